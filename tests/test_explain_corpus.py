"""`benchbook explain` over the corpus: tests/logs/<importer>/<name>.log, its truth beside it.

<name>.yaml: `origin` (what made it, or what it was made after), `dirty`, `machine` (fields of
rules.Machine that the caller tells), `tool`, `results` (each a subset of a record that --json
prints; all of its numbers must be there), `count` (of all results), `findings` (ids of artefacts,
exactly these), `asks` (ids). All values must be right; a corpus line that fails is named.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchbook.explain import readers
from benchbook.explain.api import Explained, of_content
from benchbook.explain.rules import Machine

CORPUS = Path(__file__).parent / "logs"
SAMPLES = sorted(CORPUS.glob("*/*.log"))
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # as safe, in an eighth of the time
REQUIRED = {"origin", "dirty", "tool", "results", "count", "findings"}


@cache
def truth(sample: Path) -> dict[str, Any]:
    loaded = yaml.load(sample.with_suffix(".yaml").read_text(encoding="utf-8"), LOADER)
    assert loaded.keys() >= REQUIRED, f"{sample}: {REQUIRED - loaded.keys()} missing"
    return dict(loaded)


@cache
def read_sample(sample: Path) -> Explained:
    """What a sample says, read once; test_explain_declared_columns asks in the same worker."""
    machine = Machine(**truth(sample).get("machine", {}))
    return of_content(sample.name, sample.read_bytes(), machine)


@cache
def explained_sample(sample: Path) -> dict[str, Any]:
    return read_sample(sample).record()


def alike(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, float) and isinstance(value, float | int):
        return math.isclose(wanted, value, rel_tol=1e-9)
    return bool(wanted == value)


def holds(record: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(key in record and alike(value, record[key]) for key, value in wanted.items())


@pytest.mark.parametrize(
    "sample", SAMPLES, ids=lambda sample: f"{sample.parent.name}/{sample.stem}"
)
def test_values_and_findings(sample: Path) -> None:
    wanted, found = truth(sample), explained_sample(sample)
    assert found["tool"] == wanted["tool"]
    absent = [
        result
        for result in wanted["results"]
        if not any(holds(r, result) for r in found["results"])
    ]
    assert absent == []
    assert len(found["results"]) == wanted["count"]
    assert sorted({finding["artefact"] for finding in found["findings"]}) == sorted(
        wanted["findings"]
    )
    assert sorted({finding["artefact"] for finding in found["asks"]}) == sorted(
        wanted.get("asks", [])
    )


def shares() -> dict[str, tuple[int, int]]:
    """Of the whole corpus: how many of how many."""
    tools = values = every = found = wanted = false = clean = 0
    for sample in SAMPLES:
        told, record = truth(sample), explained_sample(sample)
        tools += record["tool"] == told["tool"]
        every += len(told["results"])
        values += sum(
            any(holds(result, each) for result in record["results"]) for each in told["results"]
        )
        expected, seen = (
            set(told["findings"]),
            {finding["artefact"] for finding in record["findings"]},
        )
        wanted, found = wanted + len(expected), found + len(expected & seen)
        if not expected:
            clean, false = clean + 1, false + bool(seen)
    return {
        "recognised": (tools, len(SAMPLES)),
        "values right": (values, every),
        "found": (found, wanted),
        "false alarms": (false, clean),
    }


def test_the_corpus_as_a_whole(capsys: pytest.CaptureFixture[str]) -> None:
    found = shares()
    with capsys.disabled():
        words = (f"{name} {part} of {of}" for name, (part, of) in found.items())
        print(f"\ncorpus of explain: {', '.join(words)}")
    rate = {name: part / of for name, (part, of) in found.items()}
    assert rate["recognised"] >= 0.95
    assert rate["values right"] == 1
    assert rate["found"] >= 0.9
    assert rate["false alarms"] <= 0.03


def test_the_corpus_is_large_and_half_of_it_clean() -> None:
    assert len(SAMPLES) >= 60
    clean = [sample for sample in SAMPLES if not truth(sample)["findings"]]
    faulty = [sample for sample in SAMPLES if truth(sample)["findings"]]
    dirty = [sample for sample in SAMPLES if truth(sample)["dirty"]]
    assert min(len(clean), len(faulty), len(dirty)) >= 20
    for tool in {sample.parent.name for sample in SAMPLES}:
        assert sum(sample.parent.name == tool for sample in SAMPLES) >= 2, tool


def test_every_importer_has_samples() -> None:
    importing = {name for name in readers.names() if hasattr(readers.importer(name), "read")}
    assert importing == {sample.parent.name for sample in SAMPLES}

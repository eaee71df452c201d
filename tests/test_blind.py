"""Findings hang on what was observed, never on a name or on the order of rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import blind
import made_up
import pandas as pd
import pytest

from benchbook.analyse.stage import Judgements, findings_of
from benchbook.controls.replays import seen_of_scene
from benchbook.controls.score import replayed
from benchbook.define import catalogue
from benchbook.detect import Seen, all_detectors, scenes
from benchbook.detect.inputs.from_files import run_tables_of
from benchbook.detect.inputs.run_table import RunTables

ROOT = Path(__file__).resolve().parent.parent
REPLAYED = [
    name
    for name in catalogue.controls(ROOT)
    if (ROOT / "kernels" / name / catalogue.REPLAY).exists()
]

MADE_UP = [("mbw", "quick"), ("stream", "tiny")]


def assert_blind(before: Judgements, after: Judgements, names: blind.Names) -> None:
    """The same was said, and none of the random ids stands in what people read."""
    read = blind.words_of(after)
    ids = set(names.given.values())
    assert [text for text in read if any(name in text for name in ids)] == []
    seen = blind.differences(
        blind.canonical(before), blind.canonical(blind.as_before(after, names))
    )
    assert seen == []


def assert_blind_to(before: Judgements, known: RunTables, groups: list[set[str]] | None) -> None:
    """A run, and each of its groups, judged under random names as it was under its own."""
    names = blind.Names(len(known.points))
    new = blind.renamed(known, names)
    called = {before: now for now, before in names.before.items()}
    mapped = groups and [{called[where] for where in group} for group in groups]
    assert_blind(before, findings_of(new, mapped), names)


def made_up_run(folder: Path, experiment: str, preset: str) -> RunTables:
    path = folder / "analysis.json"
    made_up.measured(path, experiment, preset, 8)
    analysis = json.loads(path.read_text())
    content, _ = made_up.points_of(experiment, preset)
    evidence = json.loads(path.with_name("evidence.json").read_text())["items"]
    return RunTables(
        points=analysis["points"],
        plan={
            "buffers": content["buffers"],
            "sizes": made_up.SIZES,
            "host_facts": made_up.facts(),
            "caches": {"llc_sysfs_bytes": made_up.SIZES["LLC"], "smaller_caches_bytes": []},
            "cpus": [0, 1],
        },
        evidence=evidence,
        summaries=pd.read_parquet(path.with_name("summaries.parquet")),
        readings=analysis["readings"],
        ceilings=analysis["ceilings"],
    )


@pytest.mark.parametrize(("experiment", "preset"), MADE_UP)
def test_a_run_under_other_names(tmp_path: Path, experiment: str, preset: str) -> None:
    known = made_up_run(tmp_path, experiment, preset)
    before = findings_of(known)
    assert before.findings
    assert_blind_to(before, known, None)


@pytest.mark.parametrize("control", REPLAYED)
def test_a_replayed_control_under_other_names(control: str) -> None:
    artefact = control.removeprefix(catalogue.CONTROLS)
    (detector,) = (module for module in all_detectors() if artefact == module.ARTEFACT.id)
    for number, scene in enumerate(replayed(ROOT / "kernels" / control / catalogue.REPLAY, 7)):
        seen, names = seen_of_scene(scene), blind.Names(number)
        assert_blind(
            judgements_of(detector, seen),
            judgements_of(detector, blind.renamed_seen(seen, names)),
            names,
        )


def judgements_of(detector: ModuleType, seen: Seen) -> Judgements:
    judged, name = detector.detect(seen), detector.ARTEFACT.id
    found = [asdict(finding) for finding in judged.findings]
    return Judgements(found, {name: judged.abstained}, {name: judged.clean})


def test_what_was_measured_under_other_names(measured: Path) -> None:
    found = sorted((measured / "results").glob("*/tiny/**/analysis.json"))
    assert len(found) >= len(catalogue.played(measured)) + len(catalogue.experiments(measured))
    for path in found:
        known = run_tables_of(measured, path)
        analysis = json.loads(path.read_text())
        before = Judgements(*(analysis[name] for name in Judgements._fields))
        assert_blind_to(before, known, scenes.groups(measured, analysis["experiment"], known.plan))


def test_a_detector_that_looks_at_names_is_caught() -> None:
    one = {"artefact": "a", "where": ["b"], "evidence": [], "explanation": "", "factor": 2.0}
    other = one | {"factor": 2.1}
    assert blind.differences([one], [one | {"factor": 2.0 + 1e-15}]) == []
    assert blind.differences([one], [other]) == ["[0].factor: 2.0 against 2.1"]
    assert blind.differences([one], [])

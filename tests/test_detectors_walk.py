"""Every detector has a control with a positive and a null, and says what a reader can use."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import pytest
from test_blind import MADE_UP, made_up_run

from benchbook.analyse.stage import findings_of
from benchbook.controls.replays import seen_of_scene
from benchbook.controls.score import of_analysis, replayed
from benchbook.define import catalogue
from benchbook.define.catalogue import CONTROLS, REPLAY
from benchbook.define.models import Control
from benchbook.define.yaml_files import load
from benchbook.detect import all_detectors
from benchbook.findings import Effect, proof

ROOT = Path(__file__).resolve().parent.parent
DETECTORS = {module.ARTEFACT.id: module for module in all_detectors()}
EACH = pytest.mark.parametrize("artefact", DETECTORS)
SENTENCES = 8  # short ones
END = re.compile(r"[.!?](?=\s+[^a-z\s]|\s*$)")


def control_of(artefact: str) -> dict[str, Any]:
    return load(catalogue.definition_file(ROOT, CONTROLS + artefact), Control)


def replay_of(artefact: str) -> Path | None:
    path = ROOT / "kernels" / CONTROLS / artefact / REPLAY
    return path if path.exists() else None


def faults(finding: dict[str, Any], names: set[str]) -> list[str]:
    """What is wrong with a finding as a reader sees it."""
    text, remedy = finding["explanation"], finding["remedy"]
    wrong = {
        "its effect is none of the four": finding["effect"] not in get_args(Effect),
        "its confidence is no share": not 0 < finding["confidence"] <= 1,
        "its explanation has no figure": not re.search(r"\d", text),
        f"its explanation has over {SENTENCES} sentences": len(END.findall(text)) > SENTENCES,
        "its explanation does not end": not text.endswith("."),
        "it has no remedy": not remedy.strip(),
        "it has no evidence": not finding["evidence"],
        "its evidence lacks a source": not all(
            row["name"] and row["source"] and row["state"] for row in finding["evidence"]
        ),
        "it names the experiment's own": any(
            re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", f"{text} {remedy}")
            for name in names
        ),
    }
    return [f"{finding['artefact']}: {what}: {text}" for what, is_so in wrong.items() if is_so]


def names_in(content: dict[str, Any]) -> set[str]:
    """Names of variants and methods that are no plain words, so that prose has them from nowhere
    else."""
    return {
        name
        for name in {*content["variants"], *content["definitions"]}
        if not name.replace("-", "").isalpha()
    }


def test_sentences_are_counted() -> None:
    texts = ("A 1.5. B!", "It is, e.g. this, 5 %.", "")
    assert [len(END.findall(text)) for text in texts] == [2, 1, 0]


def test_a_fault_of_a_finding_is_seen() -> None:
    good = {
        "artefact": "a",
        "effect": "informs",
        "confidence": 1.0,
        "explanation": "It took 3 ms.",
        "remedy": "Wait.",
        "evidence": [proof("time_ns", 3, "ns", "samples")],
    }
    assert faults(good, {"block-1.1.1"}) == []
    for change in (
        {"effect": "odd"},
        {"confidence": 0},
        {"explanation": "It took long."},
        {"explanation": "It took 3 ms." + " A." * SENTENCES},
        {"remedy": " "},
        {"evidence": []},
        {"explanation": "As block-1.1.1 shows, 3 ms."},
    ):
        assert len(faults(good | change, {"block-1.1.1"})) == 1


@EACH
def test_has_a_control_with_a_positive_and_a_null(artefact: str) -> None:
    folder = ROOT / "kernels" / CONTROLS / artefact
    assert (folder / "control.yaml").exists(), "each detector has its control"
    control, replay = control_of(artefact), replay_of(artefact)
    assert control["artefact"] == artefact
    assert control["text"].strip()
    trials = [trial["provoked"] for trial in control.get("trials") or []]
    sides = {side: bool(control.get(side)) for side in catalogue.SIDES}
    sides["provoked"] |= any(trials)
    sides["nulls"] |= not all(trials)
    if control.get("kernel"):
        # A null that not every machine can play may be left to the replay.
        sides["nulls"] |= replay is not None
        assert sides == {"provoked": True, "nulls": True}
    else:
        assert replay is not None
        assert sides == {"provoked": False, "nulls": False}


@EACH
def test_its_file_is_called_as_it_is(artefact: str) -> None:
    module = DETECTORS[artefact]
    assert module.__name__.rsplit(".", 1)[-1] == artefact.replace("-", "_")
    assert (module.__doc__ or "").strip()
    remedies = [module.ARTEFACT.remedy or kind.remedy for kind in module.ARTEFACT.kinds.values()]
    assert remedies
    assert all(remedy.strip() for remedy in remedies)


@EACH
def test_what_its_file_declares_is_what_it_says(artefact: str) -> None:
    module = DETECTORS[artefact]
    text = Path(module.__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'cannot_tell\(\s*"([\w-]+)"', text))
    assert named == set(module.ARTEFACT.reasons)
    shared = {"checked", "simulated"}  # of block copies, in inputs/blocks.py
    kinds = set(module.ARTEFACT.kinds) - shared - {""}
    assert [kind for kind in sorted(kinds) if f'"{kind}"' not in text] == []


def test_every_control_has_its_detector() -> None:
    named = {name.removeprefix(CONTROLS) for name in catalogue.controls(ROOT)}
    assert named - set(DETECTORS) == set()


@pytest.mark.parametrize("artefact", [name for name in DETECTORS if replay_of(name)])
def test_its_replay_is_told_from_its_null(artefact: str) -> None:
    path = replay_of(artefact)
    assert path is not None
    scenes = list(replayed(path, 11))
    assert {scene.provoked for scene in scenes} == {True, False}
    for scene in scenes:
        judged = DETECTORS[artefact].detect(seen_of_scene(scene))
        assert bool(judged.findings) == scene.provoked, judged.abstained
        if not scene.provoked:
            assert judged.clean, "what it did not look at is no null"
        assert [
            text for finding in judged.findings for text in faults(asdict(finding), set())
        ] == []


@pytest.mark.parametrize(("experiment", "preset"), MADE_UP)
def test_what_is_said_of_a_made_up_run(tmp_path: Path, experiment: str, preset: str) -> None:
    found, *_ = findings_of(made_up_run(tmp_path, experiment, preset))
    names = names_in(catalogue.definition(ROOT, experiment))
    assert [text for finding in found for text in faults(finding, names)] == []


def test_what_is_said_of_what_was_measured(measured: Path) -> None:
    wrong = []
    for path in sorted((measured / "results").glob("*/tiny/**/analysis.json")):
        analysis = json.loads(path.read_text())
        names = names_in(catalogue.definition(measured, analysis["experiment"]))
        wrong += [text for finding in analysis["findings"] for text in faults(finding, names)]
    assert wrong == []


def test_played_positives_are_found_and_nulls_are_judged(measured: Path) -> None:
    """Timing is never asserted: where it decides, `make test-long` counts. And the machine may be
    busy with other tests, so what needs a quiet one is no null."""
    lost = []
    for name in catalogue.played(measured):
        (path,) = (measured / "results").glob(f"*/tiny/{name}/analysis.json")
        artefact = name.removeprefix(CONTROLS)
        told = of_analysis(measured, name, json.loads(path.read_text()), loaded=True)
        own = [
            outcome
            for outcome in told.outcomes
            if outcome.artefact == artefact and outcome.answer != "skipped"
        ]
        provoked = [outcome.answer for outcome in own if outcome.provoked]
        nulls = [outcome.answer for outcome in own if not outcome.provoked]
        timing = DETECTORS[artefact].ARTEFACT.is_timing_only
        if not timing and any(said != "found" for said in provoked):
            lost.append(f"{artefact}: provoked, and said: {', '.join(provoked)}")
        if "unasked" in nulls:
            lost.append(f"{artefact}: its null is nothing that it judges")
        quiet = DETECTORS[artefact].ARTEFACT.needs_quiet
        if not timing and not quiet and "found" in nulls:
            lost.append(f"{artefact}: found in its null")
    assert lost == []

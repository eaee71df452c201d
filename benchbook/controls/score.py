"""Controls: did each detector find its artefact where it was provoked, and nothing in the null?

Every clean scene that was played is a null of every detector that judged it, unless the control
says that an artefact is truly present in it, or the detector is about the host. What a detector did
not look at, because it does not concern it, is no null.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.controls.controls_json import VERSION
from benchbook.controls.replays import Scene, seen_of_scene
from benchbook.core.files import read_json, write_json
from benchbook.core.processes import on_every_cpu
from benchbook.define import catalogue
from benchbook.define.models import Control
from benchbook.define.yaml_files import load
from benchbook.detect import all_detectors, catalogue_of_artefacts
from benchbook.detect.scenes import scenes_of

LEVEL = 0.95
# Seeds that a replayed control is judged with; three take 14 s of CPU, a fiftieth of quick.
REPLAYS, REPLAYS_OF_PAPER = 1, 3
FAILED = "failed"  # the state of a point; else it cannot run here
COUNTS = ("provoked", "detected", "abstained", "nulls", "false_alarms")


@dataclass(frozen=True)
class Outcome:
    """What one detector made of one scene. answer: found, silent (it judged and found nothing, or
    overlooked what was provoked), abstained, skipped (it was not played), or unasked: the null of
    its own control does not concern it, which is an error of the control."""

    artefact: str
    control: str
    where: str
    provoked: bool
    answer: str
    replayed: bool = False
    reason: str = ""


@dataclass
class Outcomes:
    """All outcomes of some controls, and one finding of each artefact as an example."""

    outcomes: list[Outcome] = field(default_factory=list)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, other: Outcomes) -> None:
        """Add the outcomes and examples of others; an example that is here already stays."""
        self.outcomes += other.outcomes
        self.examples = {**other.examples, **self.examples}


def judge_all(root: Path, analyses: list[Path], output: Path) -> None:
    """controls.json: what the detectors said of the controls against what was provoked.

    They have judged the played ones already, in the analysis, where no role and no name is known;
    the replayed ones are judged here.
    """
    outcomes, runs, texts = Outcomes(), [], {}
    by_name = {analysis["experiment"]: analysis for analysis in map(read_json, analyses)}
    names = catalogue.controls(root)
    first = next(iter(by_name.values()), {})
    where = {key: first.get(key, "") for key in ("host", "preset")}
    seeds = range(REPLAYS_OF_PAPER if where["preset"] == "paper" else REPLAYS)
    replayed = on_every_cpu(partial(of_replay, root, seeds=seeds), names)
    for name, of_replays in zip(names, replayed, strict=True):
        control = load(catalogue.definition_file(root, name), Control)
        texts[control["artefact"]] = control["text"].strip()
        if name in by_name:
            runs.append({key: by_name[name][key] for key in ("door", "facts", "variants")})
            outcomes.add(of_analysis(root, name, by_name[name]))
        outcomes.add(of_replays)
    artefacts = {}
    for artefact in catalogue_of_artefacts():
        name = artefact.id
        artefacts[name] = {
            "text": texts.get(name, ""),
            **count(name, outcomes.outcomes),
            "example": outcomes.examples.get(name),
            "timing_only": artefact.is_timing_only,
        }
        if name not in texts:
            artefacts[name] |= {"skipped": 1, "has_control": False}
    write_json(output, {"version": VERSION, **where, "runs": runs, "artefacts": artefacts})


def of_analysis(
    root: Path, name: str, analysis: dict[str, Any], *, loaded: bool = False
) -> Outcomes:
    """The outcomes of a control that was played; `loaded`: while others kept the machine busy."""
    scenes, apart = scenes_of(root, name, analysis["sizes"])
    states = {point["point"]: point for point in analysis["points"]}
    control = load(catalogue.definition_file(root, name), Control)
    # A disturbed run is not clean, unless the control disturbs some of its starts itself.
    is_noisy = bool(analysis["disturbed"]) and control["artefact"] not in _disturbed_by_others()
    loaded = loaded or is_noisy
    played = Outcomes()
    for number, scene in enumerate(scenes):
        findings = [
            finding for finding in analysis["findings"] if not apart or finding["scene"] == number
        ]
        own, places = control["artefact"], set(scene.where)
        # What is said of the whole run is said once, so it counts for the control that is about it.
        of_run = {own: {*places, "host"}}
        if not apart:
            findings = [
                finding
                for finding in findings
                if places & set(finding["where"])
                or (not finding["where"] and finding["artefact"] == own)
            ]
        lost = _lost(scene.where, states, findings, control["artefact"])
        by_artefact = {finding["artefact"]: finding for finding in findings}
        abstained = {
            artefact: next(
                (why[place] for place in sorted(of_run.get(artefact, places)) if place in why), None
            )
            for artefact, why in analysis["abstained"].items()
        }
        clean = {
            artefact
            for artefact, judged in analysis["clean"].items()
            if of_run.get(artefact, places) & set(judged)
        }
        label = ", ".join(scene.where)
        judgement = _Judgement(by_artefact, abstained, clean)
        played.add(_outcomes(control, scene.provoked, label, judgement, lost, loaded=loaded))
    return played


def _lost(
    where: list[str], states: dict[str, Any], findings: list[dict[str, Any]], artefact: str
) -> str:
    """Why a scene could not be played; empty where it was. A point that its own artefact keeps
    from running was played."""
    if any(finding["artefact"] == artefact for finding in findings):
        return ""
    lost = [states[point] for point in where if point in states and states[point]["state"] != "ok"]
    if not lost:
        return ""
    reason = lost[0].get("reason") or lost[0]["state"]
    return f"{FAILED}: {reason}" if lost[0]["state"] == FAILED else reason


def of_replay(root: Path, name: str, seeds: Iterable[int]) -> Outcomes:
    """The outcomes of a control's replay, judged here; nothing where it has none."""
    path = root / "kernels" / name / catalogue.REPLAY
    outcomes = Outcomes()
    if not path.exists():
        return outcomes
    control = load(catalogue.definition_file(root, name), Control)
    own = next(
        (detector for detector in all_detectors() if control["artefact"] == detector.ARTEFACT.id),
        None,
    )
    if own is None:
        return outcomes
    for seed in seeds:
        for number, scene in enumerate(replayed(path, seed)):
            judged = own.detect(seen_of_scene(scene))
            judgement = _Judgement(
                {finding.artefact: asdict(finding) for finding in judged.findings},
                {own.ARTEFACT.id: next(iter(judged.abstained.values()), None)},
                {own.ARTEFACT.id} if judged.clean else set(),
            )
            label = f"replay {seed}.{number}"
            outcomes.add(_outcomes(control, scene.provoked, label, judgement, "", replayed=True))
    return outcomes


def replayed(path: Path, seed: int) -> Iterator[Scene]:
    """The scenes that a replay.py makes with this seed."""
    spec = importlib.util.spec_from_file_location(f"replay_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from module.scenes(seed)


class _Judgement(NamedTuple):
    """What the detectors said of one scene: a finding of each that has one, why others abstained,
    and who judged it and found nothing."""

    findings: dict[str, dict[str, Any]]
    abstained: dict[str, str | None]
    clean: set[str]

    def answer(self, artefact: str) -> str:
        """`found`, `abstained`, `silent` or `unasked`."""
        if artefact in self.findings:
            return "found"
        if self.abstained.get(artefact) is not None:
            return "abstained"
        return "silent" if artefact in self.clean else "unasked"


def _outcomes(
    control: dict[str, Any],
    provoked: bool,
    where: str,
    judged: _Judgement,
    lost: str,
    *,
    replayed: bool = False,
    loaded: bool = False,
) -> Outcomes:
    """One outcome of its own detector; in a clean scene one of every other that judged it."""
    own, outcomes = control["artefact"], Outcomes()
    common = {"control": own, "where": where, "provoked": provoked, "replayed": replayed}
    if lost:
        outcomes.outcomes.append(Outcome(own, answer="skipped", reason=lost, **common))
        return outcomes
    artefacts = {own}
    if not provoked:
        others = {point for point in judged.abstained if judged.answer(point) != "unasked"}
        artefacts |= others - set(control.get("present", [])) - _of_the_host()
        artefacts -= _disturbed_by_others() if loaded else set()
    for artefact in sorted(artefacts):
        word = judged.answer(artefact)
        if provoked and word == "unasked":
            word = "silent"
        reason = judged.abstained.get(artefact) or ""
        if word == "found" and not provoked:
            reason = judged.findings[artefact]["explanation"]
        outcomes.outcomes.append(Outcome(artefact, answer=word, reason=reason, **common))
    if provoked and own in judged.findings:
        example = judged.findings[own]
        outcomes.examples[own] = {key: example[key] for key in _EXAMPLE} | {"replayed": replayed}
    return outcomes


def _of_the_host() -> set[str]:
    """Artefacts that may be in any scene, because they are the machine's."""
    return {artefact.id for artefact in catalogue_of_artefacts() if artefact.is_about_host}


def _disturbed_by_others() -> set[str]:
    """Artefacts that other work on the machine may truly cause."""
    return {artefact.id for artefact in catalogue_of_artefacts() if artefact.needs_quiet}


_EXAMPLE = ("effect", "factor", "confidence", "evidence", "explanation", "remedy")


def count(artefact: str, outcomes: list[Outcome]) -> dict[str, Any]:
    """Counts of one detector, exact 95 % intervals of what it finds and of its false alarms, and
    where. `replayed` holds the part of the counts that was replayed; the intervals are those of the
    scenes that were played, where there are any."""
    own = [outcome for outcome in outcomes if outcome.artefact == artefact]
    all_counts = _counts(own)
    replayed = _counts([outcome for outcome in own if outcome.replayed])
    skipped = [outcome for outcome in own if outcome.answer == "skipped"]
    return {
        **all_counts,
        "skipped": len(skipped),
        "reason": skipped[0].reason if skipped else "",
        "replayed": replayed,
        "detected_interval": _of_real(all_counts, replayed, "detected", "provoked"),
        "false_alarm_interval": _of_real(all_counts, replayed, "false_alarms", "nulls"),
        **_at(artefact, own),
    }


def _counts(outcomes: list[Outcome]) -> dict[str, int]:
    played = [outcome for outcome in outcomes if outcome.answer != "skipped"]
    provoked = [outcome for outcome in played if outcome.provoked]
    clean = [
        outcome
        for outcome in played
        if not outcome.provoked and outcome.answer in ("found", "silent")
    ]
    elsewhere = [outcome for outcome in clean if outcome.control != outcome.artefact]
    return {
        "provoked": len(provoked),
        "detected": _said(provoked, "found"),
        "abstained": _said(provoked, "abstained"),
        "nulls": len(clean),
        "false_alarms": _said(clean, "found"),
        "nulls_elsewhere": len(elsewhere),
        "false_alarms_elsewhere": _said(elsewhere, "found"),
    }


def _of_real(
    every: dict[str, int], replayed: dict[str, int], hits: str, trials: str
) -> list[float] | None:
    """The interval of a share over the scenes that were played; over the replayed ones where there
    are no others."""
    if real := every[trials] - replayed[trials]:
        return interval(every[hits] - replayed[hits], real)
    return interval(replayed[hits], replayed[trials])


def _said(outcomes: list[Outcome], what: str) -> int:
    return sum(outcome.answer == what for outcome in outcomes)


def interval(hits: int, trials: int) -> list[float] | None:
    """Clopper-Pearson's exact interval of a share; None where nothing was tried."""
    if not trials:
        return None
    from scipy.stats import binomtest  # 0.4 s of imports, which other stages need not wait for

    bounds = binomtest(hits, trials).proportion_ci(LEVEL, method="exact")
    return [float(bounds.low), float(bounds.high)]


def _at(artefact: str, outcomes: list[Outcome]) -> dict[str, list[str]]:
    """Where: ids of scenes, those of other controls with their name before."""

    def named(outcome: Outcome) -> str:
        return (
            outcome.where if outcome.control == artefact else f"{outcome.control}: {outcome.where}"
        )

    provoked = [outcome for outcome in outcomes if outcome.provoked and outcome.answer != "skipped"]
    clean = [outcome for outcome in outcomes if not outcome.provoked]
    return {
        "provoked_at": [named(outcome) for outcome in provoked],
        "nulls_at": [
            named(outcome)
            for outcome in clean
            if outcome.control == artefact and outcome.answer in ("found", "silent")
        ],
        "detected_at": [named(outcome) for outcome in provoked if outcome.answer == "found"],
        "missed_at": [named(outcome) for outcome in provoked if outcome.answer == "silent"],
        "abstained_at": [named(outcome) for outcome in provoked if outcome.answer == "abstained"],
        "false_alarms_at": [named(outcome) for outcome in clean if outcome.answer == "found"],
    }

"""What many plays of the controls say of each detector, and what must hold.

A detector of an artefact that is_timing_only is judged by shares, the others by every scene.
"""

from __future__ import annotations

from typing import Any

from benchbook.controls import score
from benchbook.controls.campaign_counts import (
    REPLAYED,
    Line,
    Tally,
    is_null,
    is_played,
    runs,
)
from benchbook.controls.score import COUNTS, Outcome

ABSTAINED, MISSED, FALSE_ALARMS = "abstained", "missed", "false-alarms"  # what is wrong
LEAST_FOUND, MOST_FALSE = 0.95, 0.01  # of a detector that timing decides


def summary(tally: Tally, timing: set[str]) -> dict[str, Any]:
    """Counts of every detector, also by load, and what does not hold."""
    finished = tally.next() is None
    artefacts = {}
    for name in tally.detectors:
        by_load: dict[str, list[Outcome]] = {}
        for line in tally.lines:
            own = [outcome for outcome in line.outcomes if outcome.artefact == name]
            by_load.setdefault(line.load, []).extend(own)
        counts = score.count(name, [outcome for those in by_load.values() for outcome in those])
        artefacts[name] = {
            "timing_only": name in timing,
            **{key: value for key, value in counts.items() if not key.endswith("_at")},
            "runs": of_runs(name, tally.lines),
            "by_load": {load: _some(score.count(name, own)) for load, own in by_load.items()},
            "wrong": wrong(counts, timing_only=name in timing, finished=finished),
            "examples": _examples(name, tally.lines),
        }
    have, want = tally.progress()
    return {
        "version": score.VERSION,
        "finished": finished,
        "counted": have,
        "wanted": want,
        "plays": len(tally.lines),
        "seconds": round(sum(line.seconds for line in tally.lines)),
        "not_played_here": {
            name: _why(name, tally.lines) for name in tally.controls if tally.cannot_be_played(name)
        },
        "artefacts": artefacts,
    }


def _some(counts: dict[str, Any]) -> dict[str, int]:
    return {key: counts[key] for key in COUNTS}


def of_runs(artefact: str, lines: list[Line]) -> dict[str, Any]:
    """Counts as of scenes, but a play counts once: detected if all that it provoked was found,
    missed if any of it was, a false alarm if any of its clean scenes raised one. Replays are left
    out: each of their scenes is a run of its own."""
    played = [
        [outcome for outcome in run if outcome.artefact == artefact and is_played(outcome)]
        for line in lines
        if line.load != REPLAYED
        for run in runs(line)
    ]
    provoked_answers = [
        answers
        for run in played
        if (answers := {outcome.answer for outcome in run if outcome.provoked})
    ]
    clean = [
        answers
        for run in played
        if (answers := {outcome.answer for outcome in run if is_null(outcome)})
    ]
    provoked, detected = (
        len(provoked_answers),
        sum(answer == {"found"} for answer in provoked_answers),
    )
    false_alarms = sum("found" in answer for answer in clean)
    return {
        "provoked": provoked,
        "detected": detected,
        "abstained": sum(
            "abstained" in answer and "silent" not in answer for answer in provoked_answers
        ),
        "nulls": len(clean),
        "false_alarms": false_alarms,
        "detected_interval": score.interval(detected, provoked),
        "false_alarm_interval": score.interval(false_alarms, len(clean)),
    }


def wrong(counts: dict[str, Any], *, timing_only: bool, finished: bool) -> list[dict[str, Any]]:
    """What a detector's counts break, played and replayed scenes each by themselves: {code, how:
    played or replayed, amount, of}. Shares are looked at when all is counted; an error of a
    detector that must make none is one at once."""
    replayed = counts["replayed"]
    played = {key: counts[key] - replayed[key] for key in COUNTS}
    least, most = (LEAST_FOUND, MOST_FALSE) if timing_only else (1, 0)
    faults: list[tuple[str, str, int, int]] = []
    for how, part in (("played", played), ("replayed", replayed)):
        provoked, abstained = part["provoked"], part["abstained"]
        answered = provoked - abstained
        if finished and 2 * abstained > provoked:
            faults.append((ABSTAINED, how, abstained, provoked))
        if (finished or not timing_only) and part["detected"] < least * answered:
            faults.append((MISSED, how, part["detected"], answered))
        if (finished or not timing_only) and part["false_alarms"] > most * part["nulls"]:
            faults.append((FALSE_ALARMS, how, part["false_alarms"], part["nulls"]))
    return [dict(zip(("code", "how", "amount", "of"), fault, strict=True)) for fault in faults]


def _why(control: str, lines: list[Line]) -> str:
    """Why nothing of a control was played, as its last play says."""
    reasons = [
        outcome.reason
        for line in lines
        for outcome in line.outcomes
        if line.control == control and outcome.answer == "skipped"
    ]
    return reasons[-1] if reasons else ""


def _examples(artefact: str, lines: list[Line], most: int = 10) -> list[dict[str, Any]]:
    """Some misses and false alarms: where, under what load, and what was said."""
    odd = [
        {"control": line.control, "load": line.load, "seed": line.seed, "where": outcome.where}
        | {"provoked": outcome.provoked, "said": outcome.answer, "reason": outcome.reason}
        for line in lines
        for outcome in line.outcomes
        if outcome.artefact == artefact
        and outcome.answer != ("found" if outcome.provoked else "silent")
        if outcome.answer not in ("skipped", "unasked")
        and (outcome.provoked or outcome.answer == "found")
    ]
    return odd[:most]

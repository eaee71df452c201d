"""What many plays of the controls say of each detector, and what must hold.

A detector whose module says TIMING_ONLY = True is judged by shares, the others by every scene.
"""

from __future__ import annotations

from typing import Any

from benchbook.controls import judging
from benchbook.controls.judging import COUNTS, Outcome
from benchbook.controls.long_count import NULLS, Line, Tally

LEAST_FOUND, MOST_FALSE = 0.95, 0.01  # of a detector that timing decides


def summary(tally: Tally, timing: set[str]) -> dict[str, Any]:
    """Counts of every detector, also by load, and what does not hold."""
    finished = tally.next() is None
    artefacts = {}
    for name in tally.detectors:
        by_load: dict[str, list[Outcome]] = {}
        for line in tally.lines:
            own = [one for one in line.outcomes if one.artefact == name]
            by_load.setdefault(line.load, []).extend(own)
        counts = judging.count(name, [one for those in by_load.values() for one in those])
        artefacts[name] = {
            "timing_only": name in timing,
            **{key: value for key, value in counts.items() if not key.endswith("_at")},
            "by_load": {load: _some(judging.count(name, own)) for load, own in by_load.items()},
            "wrong": wrong(counts, timing_only=name in timing, finished=finished),
            "examples": _examples(name, tally.lines),
        }
    have, want = tally.progress()
    return {
        "version": judging.VERSION,
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


def wrong(counts: dict[str, Any], *, timing_only: bool, finished: bool) -> list[str]:
    """What a detector's counts break, played and replayed scenes each by themselves. Shares are
    looked at when all is counted; an error of a detector that must make none is one at once."""
    replayed = counts["replayed"]
    played = {key: counts[key] - replayed[key] for key in COUNTS}
    least, most = (LEAST_FOUND, MOST_FALSE) if timing_only else (1, 0)
    found = []
    for how, part in (("played", played), ("replayed", replayed)):
        provoked, abstained = part["provoked"], part["abstained"]
        told = provoked - abstained
        if finished and 2 * abstained > provoked:
            found.append(f"{how}: abstained in {abstained} of {provoked} provoked scenes")
        if (finished or not timing_only) and part["detected"] < least * told:
            found.append(f"{how}: found {part['detected']} of {told}")
        if (finished or not timing_only) and part["false_alarms"] > most * part["nulls"]:
            found.append(f"{how}: {part['false_alarms']} false alarms in {part['nulls']} nulls")
    return found


def _why(control: str, lines: list[Line]) -> str:
    """Why nothing of a control was played, as its last play says."""
    reasons = [
        one.reason
        for line in lines
        for one in line.outcomes
        if line.control == control and one.said == "skipped"
    ]
    return reasons[-1] if reasons else ""


def _examples(artefact: str, lines: list[Line], most: int = 10) -> list[dict[str, Any]]:
    """Some misses and false alarms: where, under what load, and what was said."""
    odd = [
        {"control": line.control, "load": line.load, "seed": line.seed, "where": one.where}
        | {"provoked": one.provoked, "said": one.said, "reason": one.reason}
        for line in lines
        for one in line.outcomes
        if one.artefact == artefact and one.said != ("found" if one.provoked else "silent")
        if one.said not in ("skipped", "unasked") and (one.provoked or one.said == "found")
    ]
    return odd[:most]


def table(content: dict[str, Any]) -> list[str]:
    """The summary as lines of text: counts, then what they break."""
    columns = ("provoked", "found", "abstained", "nulls", "false", "replayed")
    lines = [
        f"{'artefact':26}" + "".join(f"{name:>10}" for name in columns) + "  at least, at most"
    ]
    for name, one in content["artefacts"].items():
        counts = [one[key] for key in COUNTS] + [one["replayed"]["provoked"]]
        found, false = one["detected_interval"], one["false_alarm_interval"]
        bounds = f"  {_share(found and found[0])} found, {_share(false and false[1])} false"
        lines.append(f"{name:26}" + "".join(f"{n:>10}" for n in counts) + bounds)
        lines += [f"  ! {text}" for text in one["wrong"]]
    lines += [
        f"not played here: {one}" for one in map(": ".join, content["not_played_here"].items())
    ]
    lines += [
        f"fewer than {NULLS} nulls can be had here: {name} ({one['nulls']})"
        for name, one in content["artefacts"].items()
        if content["finished"] and one["nulls"] < NULLS
    ]
    have, want = content["counted"], content["wanted"]
    lines.append(f"{have} of {want} scenes, in {content['plays']} plays, {content['seconds']} s")
    return lines


def _share(value: float | None) -> str:
    return "     -" if value is None else f"{value:6.1%}"

"""The sentences of a comparison, and the comparison as `compare --json` prints it and the page
shows it."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from benchbook.compare import Comparison
from benchbook.compare.matched import (
    Check,
    ComparedExperiment,
    ComparedPoint,
    Conclusion,
    Floor,
    FloorPart,
    Why,
)
from benchbook.compare.sides import Side
from benchbook.core import number_format
from benchbook.core.files import storable

VERSION = 1
METHOD = (
    "The median of each run of the program; the Hodges-Lehmann estimate over all pairs of both. "
    "The interval is that of the exact rank-sum test for unpaired samples. It holds at 95 % for "
    "each ratio, and for all points of an experiment together (Bonferroni)"
)
CONCLUSIONS = {
    Conclusion.B_FASTER: "B faster",
    Conclusion.A_FASTER: "A faster",
    Conclusion.NO_DIFFERENCE: "no difference shown",
    Conclusion.UNDECIDED: "undecided",
    Conclusion.NOT_MEASURED: "not measured",
}
CHECKS = {
    Check.AGAIN: "the same binary twice in",
    Check.RELINKED: "the relinked binary in",
    Check.ANCHOR: "the reference copy between A and B",
}
WHY = {
    Why.OTHER_BYTES: "a call declares different bytes in A and B",
    Why.OTHER_HARNESS: "versions of the harness differ, so A and B were checked unlike; measure "
    "one of them again",
    Why.ONE_EMULATED: "one of A and B only emulates what the other has",
    Why.NO_TIME: "a run took no time by its clock",
    Why.FEW_STARTS: "too few runs of the program for an interval over all points",
}


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison with its reasons as sentences; what JSON cannot hold is None."""
    content: dict[str, Any] = storable(
        {
            "version": VERSION,
            "method": METHOD,
            "a": _side(comparison.a),
            "b": _side(comparison.b),
            "items": [_experiment(experiment) for experiment in comparison.experiments],
            "only_a": comparison.only(comparison.a),
            "only_b": comparison.only(comparison.b),
            "differences": [dict(vars(difference)) for difference in comparison.differences],
        }
    )
    return content


def _side(side: Side) -> dict[str, Any]:
    return {
        "label": side.label,
        "hosts": sorted({experiment.host for experiment in side.experiments.values()}),
        "runs": {name: experiment.run for name, experiment in side.experiments.items()},
    }


def _experiment(experiment: ComparedExperiment) -> dict[str, Any]:
    floor = experiment.floor
    return {
        "experiment": experiment.name,
        "points": [_point(point, floor) for point in experiment.points],
        "only_a": experiment.only_a,
        "only_b": experiment.only_b,
        "floor": {
            "parts": [_part(part) for part in floor.parts],
            "failed": _failed(floor),
            "unknown": _unknown(floor),
            "log_effect": floor.log_effect,
        },
        "matched_by": "compiler and flags" if experiment.by_flags else "name of the variant",
    }


def _point(point: ComparedPoint, floor: Floor) -> dict[str, Any]:
    joint, pointwise = point.joint, point.pointwise
    return {
        "point_a": point.a["point"],
        "point_b": point.b["point"],
        "factors": point.a["factors"],
        "emulates": point.emulates,
        "ratio": joint and joint.estimate,
        "low95": pointwise and pointwise.low,
        "high95": pointwise and pointwise.high,
        "low": joint and joint.low,
        "high": joint and joint.high,
        "smallest_effect": point.smallest_effect,
        **dict(zip(("starts_a", "starts_b"), point.starts, strict=True)),
        **dict(zip(("time_a_ns", "time_b_ns"), point.times_ns, strict=True)),
        "said": str(point.conclusion),
        "reason": _reason(point, floor),
    }


def _reason(point: ComparedPoint, floor: Floor) -> str:
    """Why there is no conclusion; else empty."""
    match point.why:
        case None:
            return ""
        case Why.ABSENT_IN_A:
            return f"A: {point.a['reason']}"
        case Why.ABSENT_IN_B:
            return f"B: {point.b['reason']}"
        case Why.TWINS_DIFFER:
            return _failed(floor)
        case Why.FLOOR_UNKNOWN:
            return _unknown(floor)
    return WHY[point.why]


def _part(part: FloorPart) -> dict[str, Any]:
    worst = part.worst
    return {
        "name": _name(part),
        "fails": part.fails,
        "log_effect": part.log_effect,
        "ratio": worst and worst.estimate,
        "low": worst and worst.low,
        "high": worst and worst.high,
    }


def _name(part: FloorPart) -> str:
    return f"{CHECKS[part.check]} {part.side}".rstrip()


def _failed(floor: Floor) -> str:
    return f"{_name(floor.failed)} did not come out equal" if floor.failed else ""


def _unknown(floor: Floor) -> str:
    unknown = floor.unknown
    return f"{_name(unknown)}: not measured often enough for a floor" if unknown else ""


def headline(comparison: Comparison) -> str:
    """How many points gave which answer, in one line."""
    counts = Counter(
        point.conclusion for experiment in comparison.experiments for point in experiment.points
    )
    parts = [f"{words} at {counts[code]}" for code, words in CONCLUSIONS.items() if counts[code]]
    total = number_format.plural(sum(counts.values()), "point")
    return f"{total} in both: {number_format.listed(parts)}" if parts else "No point is in both"


def floor_sentence(floor: Floor) -> str:
    """From which factor on a difference is shown, and what limits it."""
    if floor.log_effect is None or floor.failed:
        return f"Nothing is called different here: {_failed(floor) or _unknown(floor)}."
    return (
        f"Nothing below a factor of {number_format.number(math.exp(floor.log_effect))} is called "
        f"different: so far {_name(floor.widest)} may lie apart."
    )


def as_text(comparison: Comparison) -> str:
    """The comparison for a terminal: a line a point."""
    content = as_json(comparison)
    lines = [f"A: {comparison.a.label}", f"B: {comparison.b.label}", f"{headline(comparison)}."]
    for difference in comparison.differences:
        what = f"{difference.kind}: {difference.what}"
        lines.append(f"  {what}: A {difference.a}; B {difference.b}")
    for experiment, item in zip(comparison.experiments, content["items"], strict=True):
        lines += ["", f"{experiment.name} (B times as fast as A, 95 % each)"]
        lines.append(f"  {floor_sentence(experiment.floor)}")
        for row in item["points"]:
            value = number_format.with_interval(row["ratio"], row["low95"], row["high95"])
            why = f": {row['reason']}" if row["reason"] else ""
            answer = CONCLUSIONS[Conclusion(row["said"])]
            lines.append(f"  {value:<26} {answer:<20} {row['point_a']}{why}")
        for name, left in (("A", experiment.only_a), ("B", experiment.only_b)):
            lines += [f"  only in {name}: {', '.join(left)}"] if left else []
    return "\n".join(lines)

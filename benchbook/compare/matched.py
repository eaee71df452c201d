"""Equal points of two sides and how many times as fast the one is as the other.

Two runs are not paired, so a ratio is that of two independent samples of starts. No ratio is called
a difference that is smaller than what equal binaries show in either run, or than what the anchor
shows between two runs of one host.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.compare.sides import Measured
from benchbook.define.points import Point
from benchbook.stats.intervals import Interval

METHOD = (
    "Median of each start; Hodges-Lehmann estimate over all pairs of starts of the two runs, with "
    "the interval of the exact rank-sum test for samples that are not paired, at 95 % by itself "
    "and at 95 % for all points of an experiment together (Bonferroni)"
)
Key = tuple[Any, ...]


def compared(a: Measured, b: Measured) -> dict[str, Any]:
    """One experiment of two sides: points in both, points in one only, and the floor below which
    nothing is called different."""
    named = bool(a.variants and b.variants)
    ours, theirs = _by_key(a, named), _by_key(b, named)
    both = [key for key in ours if key in theirs and not ours[key]["twin"]]
    measured = [key for key in both if ours[key]["state"] == theirs[key]["state"] == "ok"]
    level = stats.adjusted_level(max(len(measured), 1))
    floor = floor_of(a, b, level)
    starts = [dict(iter(side_run.summaries.groupby("point"))) for side_run in (a, b)]
    points = [
        _point(ours[key], theirs[key], starts, floor, level)
        for key in both
        if key in measured or ours[key]["state"] == "ok" or theirs[key]["state"] == "ok"
    ]
    return {
        "experiment": a.experiment,
        "points": points,
        "only_a": _only(ours, theirs),
        "only_b": _only(theirs, ours),
        "floor": floor,
        "matched_by": "compiler and flags" if named else "name of the variant",
    }


def _by_key(side: Measured, named: bool) -> dict[Key, dict[str, Any]]:
    """Points by what they physically are: compiler, flags, environment, factors; by the variant's
    name too where two variants differ in nothing else."""
    by_key: dict[Key, list[dict[str, Any]]] = {}
    for point in side.points:
        factors = sorted((key, str(value)) for key, value in point["factors"].items())
        record = side.variants.get(point["variant"]) if named else None
        variant = physical(record) if record else (point["variant"],)
        variant += tuple(sorted(side.environments.get(point["variant"], {}).items()))
        by_key.setdefault((*variant, point.get("twin", ""), *factors), []).append(point)
    keyed: dict[Key, dict[str, Any]] = {}
    for key, points in by_key.items():
        for same_key in points:
            keyed[key if len(points) == 1 else (*key, same_key["variant"])] = same_key
    return keyed


def physical(record: dict[str, Any]) -> Key:
    """A variant without its name: compiler, flags, and whose program it is."""
    peer = (record.get("peer") or {}).get("tool", "")
    return record.get("compiler"), tuple(record.get("flags") or ()), peer


def _only(these: dict[Key, dict[str, Any]], others: dict[Key, Any]) -> list[str]:
    return [
        point["point"] for key, point in these.items() if key not in others and not point["twin"]
    ]


def _point(
    a: dict[str, Any],
    b: dict[str, Any],
    starts: list[dict[str, pd.DataFrame]],
    floor: dict[str, Any],
    level: float,
) -> dict[str, Any]:
    """`ratio`: how many times as fast B is as A, time of A ÷ time of B, per call."""
    own_a, own_b = (part.get(point["point"]) for part, point in zip(starts, (a, b), strict=True))
    row: dict[str, Any] = {
        "point_a": a["point"],
        "point_b": b["point"],
        "factors": a["factors"],
        "emulates": a.get("emulates") or b.get("emulates") or "",
        **dict.fromkeys(("ratio", "low95", "high95", "low", "high", "smallest_effect")),
        "starts_a": 0 if own_a is None else len(own_a),
        "starts_b": 0 if own_b is None else len(own_b),
        "time_a_ns": None if own_a is None else float(own_a["median_ns"].median()),
        "time_b_ns": None if own_b is None else float(own_b["median_ns"].median()),
    }
    if own_a is None or own_b is None:
        missing, why = ("A", a) if own_a is None else ("B", b)
        return row | {"said": "not_measured", "reason": f"{missing}: {why['reason']}"}
    if own_a["bytes_declared"].iloc[0] != own_b["bytes_declared"].iloc[0]:
        return row | {"said": "not_measured", "reason": "a call declares other bytes in A and B"}
    if min(own_a["median_ns"].min(), own_b["median_ns"].min()) <= 0:
        return row | {"said": "not_measured", "reason": "a start took no time by its clock"}
    pointwise, joint = (ratio(own_a, own_b, at) for at in (0.95, level))
    row |= {"ratio": joint.estimate, "low95": pointwise.low, "high95": pointwise.high}
    row |= {"low": joint.low, "high": joint.high}
    return row | conclusion(joint, floor)


def ratio(a: pd.DataFrame, b: pd.DataFrame, level: float) -> Interval:
    """Times of A over times of B, from one summary for each start."""
    return stats.unpaired_ratio(a["median_ns"], b["median_ns"], level)


def conclusion(joint: Interval, floor: dict[str, Any]) -> dict[str, Any]:
    """What the interval that holds for all points together lets one say, and the smallest effect
    that counts as real there."""
    if not math.isfinite(joint.high) or joint.low <= 0:
        return {"said": "undecided", "reason": "too few starts for an interval over all points"}
    if floor["failed"]:
        return {"said": "undecided", "reason": floor["failed"]}
    if floor["log_effect"] is None:
        return {"said": "undecided", "reason": floor["unknown"]}
    half = math.log(joint.high / joint.low) / 2
    effect = max(half, floor["log_effect"])
    least = {"smallest_effect": math.exp(effect), "reason": ""}
    if joint.low <= 1 <= joint.high or abs(math.log(joint.estimate)) <= effect:
        return {"said": "no_difference_shown", **least}
    return {"said": "b_faster" if joint.estimate > 1 else "a_faster", **least}


def floor_of(a: Measured, b: Measured, level: float) -> dict[str, Any]:
    """The effect below which nothing is called different, as a log: of both runs' twins, and of the
    anchor between two runs of one host. None, and why, where one was not measured."""
    parts = [*_twins("A", a, level), *_twins("B", b, level)]
    parts += [_anchor(a, b)] if a.host == b.host else []
    failed = [part for part in parts if part["fails"]]
    unknown = [part["name"] for part in parts if part["log_effect"] is None]
    widest = max(
        (part["log_effect"] for part in parts if part["log_effect"] is not None), default=0
    )
    return {
        "parts": parts,
        "failed": f"{failed[0]['name']} did not come out equal" if failed else "",
        "unknown": f"{unknown[0]}: not measured often enough for a floor" if unknown else "",
        "log_effect": None if unknown else widest,
    }


def _twins(name: str, side: Measured, level: float) -> list[dict[str, Any]]:
    """Parts of the floor, the worst of each side: A/A twins (an interval must hold 1), relinked."""
    own = dict(iter(side.summaries.groupby("point")))
    parts = []
    for twin, words in (("again", "the same binary twice"), ("relinked", "the relinked binary")):
        intervals = []
        for point in side.points:
            base = own.get(Point.of_id(point["point"]).untwinned.id)
            if point.get("twin") == twin and point["point"] in own and base is not None:
                intervals.append(ratio(base, own[point["point"]], level))
        parts.append(_part(f"{words} in {name}", intervals, furthest=twin == "relinked"))
    return parts


def _anchor(a: Measured, b: Measured) -> dict[str, Any]:
    """The anchor in A over that in B: what the host itself did between the two runs."""
    name = "the anchor between A and B"
    if not a.anchors or not b.anchors:
        return _part(name, [], furthest=True)
    ratio = stats.unpaired_ratio(a.anchors, b.anchors)
    if not math.isfinite(ratio.high):  # of few readings: the furthest two
        low, high = min(a.anchors) / max(b.anchors), max(a.anchors) / min(b.anchors)
        ratio = ratio._replace(low=low, high=high)
    return _part(name, [ratio], furthest=True)


def _part(name: str, intervals: list[Interval], *, furthest: bool) -> dict[str, Any]:
    """One part of the floor: half the interval's width, or its furthest bound from 1."""
    usable = [
        interval for interval in intervals if interval.low > 0 and math.isfinite(interval.high)
    ]
    fails = not furthest and any(
        not stats.null_check(interval.low, interval.high) for interval in usable
    )
    effects = {
        max(abs(math.log(interval.low)), abs(math.log(interval.high)))
        if furthest
        else math.log(interval.high / interval.low) / 2: interval
        for interval in usable
    }
    worst = effects[max(effects)] if effects else None
    return {
        "name": name,
        "fails": fails,
        "log_effect": max(effects) if effects and len(usable) == len(intervals) else None,
        "ratio": worst.estimate if worst else None,
        "low": worst.low if worst else None,
        "high": worst.high if worst else None,
    }

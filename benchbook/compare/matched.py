"""Equal points of two sides and how many times as fast B is as A.

Two runs are not paired, so a ratio is that of two independent samples of starts. No ratio is called
a difference that is smaller than what equal binaries show in either run, or than what the anchor
shows between two runs of one host.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.compare.sides import Measured
from benchbook.define.points import Point
from benchbook.stats.intervals import Interval

Key = tuple[Any, ...]


class Conclusion(StrEnum):
    """What two samples of starts say of a point."""

    B_FASTER = "b_faster"
    A_FASTER = "a_faster"
    NO_DIFFERENCE = "no_difference_shown"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not_measured"


class Why(StrEnum):
    """Why a point is undecided or not measured."""

    ABSENT_IN_A = "absent_in_a"  # the run says why
    ABSENT_IN_B = "absent_in_b"
    OTHER_BYTES = "other_bytes"
    OTHER_HARNESS = "other_harness"  # which checks and times in another way
    ONE_EMULATED = "one_emulated"
    NO_TIME = "no_time"
    FEW_STARTS = "few_starts"
    TWINS_DIFFER = "twins_differ"  # of the floor
    FLOOR_UNKNOWN = "floor_unknown"


class Check(StrEnum):
    """What is measured twice to see how far apart equal things lie."""

    AGAIN = "again"  # the same binary
    RELINKED = "relinked"  # with other padding
    ANCHOR = "anchor"  # between two runs of one host


@dataclass(frozen=True)
class FloorPart:
    """What one check shows, in one side ("A" or "B"; the anchor: ""): the worst of its intervals,
    whether one misses 1, and the effect as a log, None where one is missing or not finite."""

    check: Check
    side: str
    worst: Interval | None
    fails: bool
    log_effect: float | None


@dataclass(frozen=True)
class Floor:
    """The effect below which nothing is called different."""

    parts: list[FloorPart]

    @property
    def failed(self) -> FloorPart | None:
        """The first part whose interval misses 1."""
        return next((part for part in self.parts if part.fails), None)

    @property
    def unknown(self) -> FloorPart | None:
        """The first part without an effect."""
        return next((part for part in self.parts if part.log_effect is None), None)

    @property
    def widest(self) -> FloorPart:
        """The part with the largest effect."""
        return max(self.parts, key=lambda part: part.log_effect or 0.0)

    @property
    def log_effect(self) -> float | None:
        """The largest effect as a log; None where one is unknown."""
        return None if self.unknown else self.widest.log_effect


@dataclass(frozen=True)
class ComparedPoint:
    """A point of both sides, as each records it. `joint` holds for all points of the experiment
    together at 95 %, `pointwise` for this one; both are ratios time of A ÷ time of B, per call.

    `starts` and `times_ns`, their median, are of A and of B. `smallest_effect` is the smallest
    factor that counts as real here.
    """

    a: dict[str, Any]
    b: dict[str, Any]
    starts: list[int]
    times_ns: list[float | None]
    conclusion: Conclusion
    why: Why | None = None
    joint: Interval | None = None
    pointwise: Interval | None = None
    smallest_effect: float | None = None

    @property
    def emulates(self) -> str:
        """What was simulated of it; empty where nothing was."""
        return self.a.get("emulates") or self.b.get("emulates") or ""


@dataclass(frozen=True)
class ComparedExperiment:
    """One experiment of two sides: points in both, ids of those in one only, and the floor.

    `by_flags`: variants were matched by compiler and flags, else by their names.
    """

    name: str
    points: list[ComparedPoint]
    only_a: list[str]
    only_b: list[str]
    floor: Floor
    by_flags: bool


def compared(a: Measured, b: Measured) -> ComparedExperiment:
    """The points of one experiment on two sides."""
    by_flags = bool(a.variants and b.variants)
    ours, theirs = _by_key(a, by_flags), _by_key(b, by_flags)
    pairs = [
        (point, theirs[key]) for key, point in ours.items() if key in theirs and not point["twin"]
    ]
    states = [{point["state"] for point in pair} for pair in pairs]
    level = stats.adjusted_level(max(sum(state == {"ok"} for state in states), 1))
    floor = Floor(list(_parts(a, b, level)))
    starts = [dict(iter(side.summaries.groupby("point"))) for side in (a, b)]
    return ComparedExperiment(
        a.experiment,
        [
            _point(pair, starts, floor, level, _unlike(a, b, pair))
            for pair, state in zip(pairs, states, strict=True)
            if "ok" in state
        ],
        _only(ours, theirs),
        _only(theirs, ours),
        floor,
        by_flags,
    )


def _by_key(side: Measured, by_flags: bool) -> dict[Key, dict[str, Any]]:
    """Points by what they physically are: compiler, flags, environment, factors; by the variant's
    name too where two variants differ in nothing else."""
    by_key: dict[Key, list[dict[str, Any]]] = {}
    for point in side.points:
        factors = sorted((key, str(value)) for key, value in point["factors"].items())
        record = side.variants.get(point["variant"]) if by_flags else None
        variant = physical(record) if record else (point["variant"],)
        variant += tuple(sorted(side.environments.get(point["variant"], {}).items()))
        by_key.setdefault((*variant, point.get("twin", ""), *factors), []).append(point)
    return {
        key if len(points) == 1 else (*key, point["variant"]): point
        for key, points in by_key.items()
        for point in points
    }


def physical(record: dict[str, Any]) -> Key:
    """A variant without its name: compiler, flags, and whose program it is."""
    peer = (record.get("peer") or {}).get("tool", "")
    return record.get("compiler"), tuple(record.get("flags") or ()), peer


def _only(these: dict[Key, dict[str, Any]], others: dict[Key, Any]) -> list[str]:
    return [
        point["point"] for key, point in these.items() if key not in others and not point["twin"]
    ]


def _point(
    pair: tuple[dict[str, Any], dict[str, Any]],
    starts: list[dict[str, pd.DataFrame]],
    floor: Floor,
    level: float,
    unlike: Why | None,
) -> ComparedPoint:
    a, b = (own.get(point["point"]) for own, point in zip(starts, pair, strict=True))
    counts = [0 if own is None else len(own) for own in (a, b)]
    times = [None if own is None else float(own["median_ns"].median()) for own in (a, b)]
    made = ComparedPoint(*pair, counts, times, Conclusion.NOT_MEASURED)
    if a is None or b is None:
        return replace(made, why=Why.ABSENT_IN_A if a is None else Why.ABSENT_IN_B)
    if unlike:
        return replace(made, why=unlike)
    if a["bytes_declared"].iloc[0] != b["bytes_declared"].iloc[0]:
        return replace(made, why=Why.OTHER_BYTES)
    if min(a["median_ns"].min(), b["median_ns"].min()) <= 0:
        return replace(made, why=Why.NO_TIME)
    pointwise, joint = (
        stats.unpaired_ratio(a["median_ns"], b["median_ns"], at) for at in (0.95, level)
    )
    conclusion, why, smallest = _conclusion(joint, floor)
    return replace(
        made,
        conclusion=conclusion,
        why=why,
        joint=joint,
        pointwise=pointwise,
        smallest_effect=smallest,
    )


def _unlike(a: Measured, b: Measured, pair: tuple[dict[str, Any], dict[str, Any]]) -> Why | None:
    """Why the two times of a point do not mean the same, whatever they are; None where they do."""
    if a.harness != b.harness and None not in (a.harness, b.harness):
        return Why.OTHER_HARNESS
    emulated = [bool(point.get("emulates")) for point in pair]
    return Why.ONE_EMULATED if emulated[0] != emulated[1] else None


def _conclusion(joint: Interval, floor: Floor) -> tuple[Conclusion, Why | None, float | None]:
    """What the interval for all points together shows, why nothing, and the smallest factor that
    counts as real there."""
    if not math.isfinite(joint.high) or joint.low <= 0:
        return Conclusion.UNDECIDED, Why.FEW_STARTS, None
    if floor.failed:
        return Conclusion.UNDECIDED, Why.TWINS_DIFFER, None
    if floor.log_effect is None:
        return Conclusion.UNDECIDED, Why.FLOOR_UNKNOWN, None
    effect = max(_half_width(joint), floor.log_effect)
    if joint.low <= 1 <= joint.high or abs(math.log(joint.estimate)) <= effect:
        return Conclusion.NO_DIFFERENCE, None, math.exp(effect)
    faster = Conclusion.B_FASTER if joint.estimate > 1 else Conclusion.A_FASTER
    return faster, None, math.exp(effect)


def _parts(a: Measured, b: Measured, level: float) -> Iterable[FloorPart]:
    """Both sides' twins, and the anchor where both ran on one host."""
    for name, side in (("A", a), ("B", b)):
        own = dict(iter(side.summaries.groupby("point")))
        for check in (Check.AGAIN, Check.RELINKED):
            intervals = []
            for point in side.points:
                base = own.get(Point.of_id(point["point"]).untwinned.id)
                if point.get("twin") == check and point["point"] in own and base is not None:
                    times = base["median_ns"], own[point["point"]]["median_ns"]
                    intervals.append(stats.unpaired_ratio(*times, level))
            yield _part(check, name, intervals)
    if a.host == b.host:
        yield _part(Check.ANCHOR, "", _anchor(a, b))


def _anchor(a: Measured, b: Measured) -> list[Interval]:
    """The anchor in A over that in B: what the host itself did between the two runs."""
    if not a.anchors or not b.anchors:
        return []
    ratio = stats.unpaired_ratio(a.anchors, b.anchors)
    if not math.isfinite(ratio.high):  # of few readings: the furthest two
        low, high = min(a.anchors) / max(b.anchors), max(a.anchors) / min(b.anchors)
        ratio = ratio._replace(low=low, high=high)
    return [ratio]


def _part(check: Check, side: str, intervals: list[Interval]) -> FloorPart:
    """A/A twins must hold 1, and their effect is half the interval's width; else it is the
    interval's furthest bound from 1."""
    finite = [ratio for ratio in intervals if ratio.low > 0 and math.isfinite(ratio.high)]
    again = check is Check.AGAIN
    size = _half_width if again else _furthest
    worst = max(finite, key=size, default=None)
    return FloorPart(
        check,
        side,
        worst,
        again and not all(stats.null_check(ratio.low, ratio.high) for ratio in finite),
        size(worst) if worst and len(finite) == len(intervals) else None,
    )


def _half_width(ratio: Interval) -> float:
    return math.log(ratio.high / ratio.low) / 2


def _furthest(ratio: Interval) -> float:
    return max(abs(math.log(ratio.low)), abs(math.log(ratio.high)))

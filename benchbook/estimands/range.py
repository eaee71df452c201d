"""(max - min) ÷ max over the values of one factor, for every setting of the others: the largest of
these ranges (`holds: all`), or the one that most of them do not exceed (`holds: most`).

A range grows with the number of points even where all are equal in truth, so the interval is made
of simultaneous intervals of each point's distance from its block's mean, and the range of the
medians stands beside its null distribution.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.define.points import Point
from benchbook.estimands import POINTWISE, Estimate, Roles, Values

LEAST = 2  # points of a range
LEAST_FOR_NULL = 4  # blocks, of which residuals can be dealt anew


def scale(value: float) -> float:
    """A range as the log of largest ÷ smallest."""
    return -math.log1p(-value) if value < 1 else math.inf


def shown(log_range: float) -> float:
    """The range of points whose largest ÷ smallest has this log; none is below 0."""
    return -math.expm1(-max(log_range, 0.0))


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"(max − min) ÷ max of {estimand['quantity']}s"


def _groups(estimand: dict[str, Any], roles: Roles) -> dict[str, list[str]]:
    """The points of each setting of the other factors."""
    groups: dict[str, list[str]] = {}
    for point in roles["points"]:
        groups.setdefault(_group(estimand, point), []).append(point.id)
    return groups


def _group(estimand: dict[str, Any], point: Point) -> str:
    """What tells the groups apart: `method=copy`, in a word where one factor does."""
    varying = [
        name
        for name, value in estimand["points"].items()
        if name != estimand["over"] and isinstance(value, list)
    ]
    values = {"variant": point.variant, **point.factors}
    return ", ".join(str(values[name]) for name in varying) or "all"


def without(estimand: dict[str, Any], roles: Roles, bad: set[str]) -> Roles | None:
    """The points that are left without those that cannot run here; None where too few are."""
    kept = {"points": [point for point in roles["points"] if point.id not in bad]}
    left, whole = _groups(estimand, kept), _groups(estimand, roles)
    enough = left.keys() == whole.keys() and all(len(own) >= LEAST for own in left.values())
    return kept if enough else None


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    return [
        (name, first) for first, *others in _groups(estimand, roles).values() for name in others
    ]


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    keys: set[Hashable] = set()
    for names in _groups(estimand, roles).values():
        # Of two points the one ratio says all; else each point's distance from the mean counts.
        counted = names[:1] if len(names) == 2 else names
        keys |= {(estimand["quantity"], name, tuple(sorted(names))) for name in counted}
    return keys


class _Range(NamedTuple):
    """A log range with its simultaneous and its pointwise interval, and the values per block of
    largest ÷ smallest."""

    estimate: float
    simultaneous: tuple[float, float]
    pointwise: tuple[float, float]
    values: Values


def _range(logs: Values, intervals: int) -> _Range:
    """Of logs (blocks, points)."""
    several = logs.shape[1] if logs.shape[1] > 2 else 1
    # The pointwise one is of the range, of which each point's distance is a part.
    levels = (
        stats.adjusted_level(max(intervals, several)),
        stats.adjusted_level(several, POINTWISE),
    )
    if logs.shape[1] == 2:
        apart = logs[:, 0] - logs[:, 1]
        apart *= 1 if stats.hodges_lehmann(apart) >= 0 else -1
        intervals_at = [stats.signed_rank_interval(apart, level) for level in levels]
        # Either may be the larger in truth.
        wide, narrow = (
            (max(0.0, interval.low, -interval.high), max(abs(interval.low), abs(interval.high)))
            for interval in intervals_at
        )
        return _Range(intervals_at[0].estimate, wide, narrow, apart)
    distances = (logs - logs.mean(axis=1, keepdims=True)).T
    ends = []
    for level in levels:
        centers, lows, highs, _ = stats.signed_rank_intervals(distances, level)
        ends.append((max(0.0, lows.max() - highs.min()), highs.max() - lows.min()))
    top, bottom = int(np.argmax(centers)), int(np.argmin(centers))
    values = distances[top] - distances[bottom]
    return _Range(float(centers[top] - centers[bottom]), ends[0], ends[1], values)


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of the quantity by block and point."""
    groups = _groups(estimand, roles)
    tables = {name: logs[own].dropna().to_numpy(float) for name, own in groups.items()}
    if any(not len(table) or table.shape[1] < 2 for table in tables.values()):
        return None
    by_group = {name: _range(table, intervals) for name, table in tables.items()}

    def chosen(values: list[float]) -> float:
        """Bounds of an order statistic are the order statistics of the bounds."""
        return sorted(values)[_rank(estimand, len(values))]

    ranges = list(by_group.values())
    center = chosen([group.estimate for group in ranges])
    wide = [chosen([group.simultaneous[end] for group in ranges]) for end in (0, 1)]
    narrow = [chosen([group.pointwise[end] for group in ranges]) for end in (0, 1)]
    resting = next(group for group in ranges if group.estimate == center)
    return Estimate(
        value=shown(center),
        low=shown(wide[0]),
        high=shown(wide[1]),
        low95=shown(narrow[0]),
        high95=shown(narrow[1]),
        half_width=(wide[1] - wide[0]) / 2,
        values=resting.values,
        effect=center,
        null=0.0,
        beside=lambda: {
            "ranges": {name: _beside_null(tables[name], group) for name, group in by_group.items()}
        },
    )


def _rank(estimand: dict[str, Any], groups: int) -> int:
    """Which of the ranges, in rising order, decides: the last, or that of the least majority."""
    return groups - 1 if estimand["holds"] == "all" else groups // 2


def _beside_null(logs: Values, log_range: _Range) -> dict[str, Any]:
    """One group's range with its interval; the range of its medians over blocks, and that of one
    start of each point, each beside what points of equal truth would show."""
    blocks, points = logs.shape
    kept: dict[str, Any] = {
        "points": points,
        "range": shown(log_range.estimate),
        "low": shown(log_range.simultaneous[0]),
        "high": shown(log_range.simultaneous[1]),
    }
    if blocks < LEAST_FOR_NULL:
        return kept
    # What a block has in common, the machine's state, is no spread of its points.
    within = logs - logs.mean(axis=1, keepdims=True)
    left = within - within.mean(axis=0)
    spread = math.sqrt((left**2).sum() / ((blocks - 1) * (points - 1)))
    medians = stats.range_statistic(np.exp(np.median(within, axis=0)))
    of_medians = stats.range_null(points, spread, blocks)
    single = float(np.median(_shown_all(np.ptp(logs, axis=1))))
    of_single = stats.range_null(points, spread)
    return kept | {
        "of_medians": _with_null(medians, of_medians),
        "of_single_starts": _with_null(single, of_single),
    }


def _shown_all(log_ranges: Values) -> Values:
    return np.asarray(-np.expm1(-log_ranges), dtype=np.float64)


def _with_null(observed: float, null: Values) -> dict[str, float]:
    return {
        "observed": observed,
        "null_median": float(np.median(null)),
        "null_95": float(np.quantile(null, 0.95)),
        "share_at_least": stats.share_at_least(null, observed),
    }


def of_cells(estimand: dict[str, Any], roles: Roles, logs: dict[str, list[float]]) -> float:
    """The range, from all printed cells: the source's ranges go over all its starts."""
    ranges = [
        shown(float(np.ptp([value for name in names for value in logs[name]])))
        for names in _groups(estimand, roles).values()
    ]
    return sorted(ranges)[_rank(estimand, len(ranges))]

"""(max - min) ÷ max over the values of one factor, for every setting of the others: the largest of
these ranges (`holds: all`), or the one that most of them do not exceed (`holds: most`).

A range is the largest difference of two of its points, so its interval is made of the intervals of
these differences (Berger and Hsu, "Bioequivalence trials, intersection-union tests and equivalence
confidence sets", Statistical Science 11 (1996), 283-319). Its upper end is the largest of their
upper ends: it is too low only where that of the two points is which are furthest apart in truth.
Its lower end is the largest of their lower ends, which hold simultaneously, for a range grows with
the number of points even where all are equal in truth. The range of the medians stands beside its
null distribution.
"""

from __future__ import annotations

import itertools
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
    """A key for each interval that it needs: one, whatever it goes over."""
    groups = sorted(tuple(sorted(names)) for names in _groups(estimand, roles).values())
    if len(groups) > 1:
        return {(estimand["quantity"], estimand["holds"], *groups)}
    return {(estimand["quantity"], *groups[0])}  # of two points the interval of their ratio


class _Range(NamedTuple):
    """A log range with its simultaneous and its pointwise interval, and the values per block of
    largest ÷ smallest."""

    estimate: float
    simultaneous: tuple[float, float]
    pointwise: tuple[float, float]
    values: Values


def _range(logs: Values, intervals: int, above: int, below: int) -> _Range:
    """Of logs (blocks, points) of one group.

    For the order statistic of all groups to be below its upper bound in error, one of `above`
    groups must be; to be above its lower bound in error, one of `below` groups. Each end has half
    of the error; of a single ratio the two are those of one interval.
    """
    apart = np.array([first - second for first, second in itertools.combinations(logs.T, 2)])
    several = below * len(apart)
    several *= 1 if several == 1 else 2
    ends = []
    for level in (stats.adjusted_level(intervals), POINTWISE):
        centers, lows, highs, _ = stats.signed_rank_intervals(
            apart, stats.adjusted_level(above, level)
        )
        # Either point may be the larger in truth.
        high = float(np.maximum(highs, -lows).max())
        _, lows, highs, _ = stats.signed_rank_intervals(apart, stats.adjusted_level(several, level))
        ends.append((max(0.0, float(np.maximum(lows, -highs).max())), high))
    widest = int(np.argmax(np.abs(centers)))
    values = apart[widest] * (1 if centers[widest] >= 0 else -1)
    return _Range(abs(float(centers[widest])), ends[0], ends[1], values)


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of the quantity by block and point."""
    groups = _groups(estimand, roles)
    tables = {name: logs[own].dropna().to_numpy(float) for name, own in groups.items()}
    if any(not len(table) or table.shape[1] < 2 for table in tables.values()):
        return None
    rank = _rank(estimand, len(groups))
    by_group = {
        name: _range(table, intervals, above=len(groups) - rank, below=rank + 1)
        for name, table in tables.items()
    }

    def chosen(values: list[float]) -> float:
        """Bounds of an order statistic are the order statistics of the bounds."""
        return sorted(values)[rank]

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

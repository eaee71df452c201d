"""How unevenly the time grows with a factor: (largest − smallest of the steps) ÷ their mean. A step
is what the time grows by from one value of `over` to the next; 0 where all are alike.

The largest of several steps grows with their number even where all are alike in truth, so the
interval is made of simultaneous intervals of each step and of their mean, and what even growth
would show at this noise stands beside it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.estimands import POINTWISE, Estimate, Roles, Values
from benchbook.estimands.slope import steps_of

LEAST_FOR_NULL = 4  # blocks, of which residuals can be dealt anew
TRIALS = 2000


def scale(value: float) -> float:
    """On the scale on which noise adds."""
    return value


def shown(scaled: float) -> float:
    """In the claim's unit, which has the same scale."""
    return scaled


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"(largest − smallest step of the {estimand['quantity']}) ÷ mean step"


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    names = steps_of(estimand, roles)[0]
    return list(zip(names[1:], names, strict=False))


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs: one of each step and one of their mean."""
    names = tuple(steps_of(estimand, roles)[0])
    return {("step", names, k) for k in range(len(names))}


def _steps(values: list[float], times: Values) -> Values:
    """Of times (blocks, points): per unit of the factor."""
    return np.diff(times, axis=1) / np.diff(values)


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of times in ns by block and point."""
    names, values = steps_of(estimand, roles)
    times = np.exp(logs[names].dropna()).to_numpy(float)
    if not len(times):
        return None
    steps = _steps(values, times)
    mean = steps.mean(axis=1)
    several = len(names)
    ends = []
    for level in (
        stats.adjusted_level(max(intervals, several)),
        stats.adjusted_level(several, POINTWISE),
    ):
        centers, lows, highs, _ = stats.signed_rank_intervals(np.vstack([steps.T, mean]), level)
        apart = max(0.0, lows[:-1].max() - highs[:-1].min()), highs[:-1].max() - lows[:-1].min()
        ends.append(_quotient(apart, (lows[-1], highs[-1])))
    center = float(np.ptp(centers[:-1]) / abs(centers[-1])) if centers[-1] else math.inf
    chosen = steps[:, int(np.argmax(centers[:-1]))] - steps[:, int(np.argmin(centers[:-1]))]
    grows = abs(centers[-1]) or math.inf
    first = float(np.median(times[:, 0]))
    return Estimate(
        value=center,
        low=ends[0][0],
        high=ends[0][1],
        low95=ends[1][0],
        high95=ends[1][1],
        half_width=(ends[0][1] - ends[0][0]) / 2 * abs(centers[-1]) / first,
        values=chosen / grows,
        effect=math.log1p(float(np.ptp(centers[:-1])) / first),
        null=0.0,
        distance=lambda log_ratio: first * math.expm1(log_ratio) / grows,
        beside=lambda: _beside(values, times, steps),
    )


def _quotient(apart: tuple[float, float], mean: tuple[float, float]) -> tuple[float, float]:
    """How far steps lie apart ÷ what they are in the mean; without an end where that may be 0."""
    low, high = sorted(abs(end) for end in mean)
    smallest = apart[0] / high if math.isfinite(high) else 0.0
    return smallest, apart[1] / low if mean[0] * mean[1] > 0 else math.inf


def _beside(values: list[float], times: Values, steps: Values) -> dict[str, Any]:
    """Each step with its pointwise interval, in ns, and the number that even growth would show."""
    intervals = [stats.signed_rank_interval(column, POINTWISE) for column in steps.T]
    ends = itertools.pairwise(values)
    notes: dict[str, Any] = {
        "steps": [
            {
                "from": start,
                "to": end,
                "ns": entry.estimate,
                "low95": entry.low,
                "high95": entry.high,
            }
            for (start, end), entry in zip(ends, intervals, strict=True)
        ]
    }
    if len(times) < LEAST_FOR_NULL:
        return notes
    null = _null(values, times)
    return notes | {
        "null": {"median": float(np.median(null)), "95": float(np.quantile(null, 0.95))}
    }


def _null(values: list[float], times: Values) -> Values:
    """What medians over blocks show where the time grows evenly: residuals dealt anew, point by
    point, around the straight line of these blocks."""
    blocks, points = times.shape
    within = times - times.mean(axis=1, keepdims=True)
    left = within - within.mean(axis=0)
    slope = float(np.median(stats.slopes(values, times)))
    line = slope * np.asarray(values)
    dice = np.random.default_rng(0)
    rows = dice.integers(0, blocks, (TRIALS, blocks, points))
    dealt = line + np.take_along_axis(left[None], rows, axis=1)
    seen = _steps(values, np.median(dealt, axis=1))
    means = np.abs(seen.mean(axis=1))
    return np.asarray(np.ptp(seen, axis=1)[means > 0] / means[means > 0], dtype=np.float64)


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The unevenness, from one time per point; NaN where the time does not grow at all."""
    names, values = steps_of(estimand, roles)
    steps = _steps(values, np.exp([[logs[name] for name in names]]))[0]
    return float(np.ptp(steps) / abs(steps.mean())) if steps.mean() else math.nan

"""How unevenly the time grows with a factor: (largest − smallest of the steps) ÷ their mean. A step
is what the time grows by from one value of `over` to the next; 0 where all are alike.

It is the largest difference of two steps ÷ their mean, and so is its upper end: that is too low
only where that of the two steps is which are furthest apart in truth. Its lower end is the largest
of lower ends that hold simultaneously, for the largest difference of several steps grows with
their number even where all are alike in truth. What even growth would show at this noise stands
beside it.
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
    """In the claim's unit, which has the same scale; no unevenness is below 0."""
    return max(scaled, 0.0)


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"spread of the {estimand['quantity']} steps, (largest − smallest) ÷ mean,"


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    names = steps_of(estimand, roles)[0]
    return list(zip(names[1:], names, strict=False))


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs: one."""
    return {("unevenness", tuple(steps_of(estimand, roles)[0]))}


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
    low, high = _quotient(steps, stats.adjusted_level(intervals))
    low95, high95 = _quotient(steps, POINTWISE)
    centers = stats.signed_rank_intervals(np.vstack([steps.T, steps.mean(axis=1)]))[0]
    center = float(np.ptp(centers[:-1]) / abs(centers[-1])) if centers[-1] else math.inf
    chosen = steps[:, int(np.argmax(centers[:-1]))] - steps[:, int(np.argmin(centers[:-1]))]
    grows = abs(centers[-1]) or math.inf
    first = float(np.median(times[:, 0]))
    half = (high - low) / 2 * abs(float(centers[-1]))
    return Estimate(
        value=min(max(center, low), high),
        low=low,
        high=high,
        low95=low95,
        high95=high95,
        # As a log, like the effect beside which it stands.
        half_width=math.log1p(half / first) if math.isfinite(high) else math.inf,
        values=chosen / grows,
        effect=math.log1p(float(np.ptp(centers[:-1])) / first),
        null=0.0,
        distance=lambda log_ratio: first * math.expm1(log_ratio) / grows,
        beside=lambda: _beside(values, times, steps),
    )


def _quotient(steps: Values, level: float) -> tuple[float, float]:
    """Both ends of how far steps (blocks, steps) lie apart ÷ what they are in the mean, each with
    half of the error."""
    apart = np.array([first - second for first, second in itertools.permutations(steps.T, 2)])
    mean = steps.mean(axis=1)
    ends = []
    # The mean may be on either side of zero.
    for signed in (mean, -mean):
        _, highs = stats.quotient_intervals(apart, signed, stats.adjusted_level(2, level))
        lows, _ = stats.quotient_intervals(apart, signed, stats.adjusted_level(len(apart), level))
        ends.append((lows.max(), highs.max()))
    low, high = (float(end) for end in np.min(ends, axis=0))
    return max(low, 0.0), high


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

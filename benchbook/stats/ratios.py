"""How much longer one point takes than another, block by block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchbook.stats.intervals import signed_rank_interval

LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """One time over another: estimate, exact interval, ratio of each block that has both."""

    estimate: float
    low: float
    high: float
    each: tuple[float, ...]

    def scaled(self, factor: float, wider: float = 1.0) -> Ratio:
        """This ratio times `factor`; the interval's ends moved out by the factor `wider`."""
        each = tuple(ratio * factor for ratio in self.each)
        low, high = self.low * factor / wider, self.high * factor * wider
        return Ratio(self.estimate * factor, low, high, each)

    def is_always_beyond(self, bound: float = 1.0) -> bool:
        """Whether every block is above the bound. Error: n equal blocks are with 2 ** -n at 1."""
        return bool(self.each) and min(self.each) > bound


def time_ratio(
    starts: pd.DataFrame, numerator: Any, denominator: Any, level: float = LEVEL
) -> Ratio | None:
    """Starts [where, block, median_ns] and two points -> median time over median time.

    None where no block has both; a time that is not above zero, or not finite, is none. Paired
    within blocks, so that what moves a whole block moves neither side. Error: that of
    `signed_rank_interval` on logs; 0 to infinity below 6 blocks (at 95 %).
    """
    if starts.empty or not {"where", "block", "median_ns"} <= set(starts.columns):
        return None
    tops, bottoms = (_by_block(starts, point) for point in (numerator, denominator))
    blocks = sorted(tops.keys() & bottoms.keys())
    if not blocks:
        return None
    logs = np.log([tops[block] / bottoms[block] for block in blocks])
    interval = signed_rank_interval(logs, level)
    return Ratio(
        math.exp(interval.estimate),
        math.exp(interval.low),
        math.exp(interval.high),
        tuple(float(ratio) for ratio in np.exp(logs)),
    )


def _by_block(starts: pd.DataFrame, point: Any) -> dict[Any, float]:
    """The median time of a point in each block where it has one that is above zero and finite."""
    own = starts[starts["where"] == point]
    times: dict[Any, list[float]] = {}
    for block, time in zip(own["block"], own["median_ns"], strict=True):
        if 0 < time < math.inf:
            times.setdefault(block, []).append(time)
    return {block: median(of_block) for block, of_block in times.items()}

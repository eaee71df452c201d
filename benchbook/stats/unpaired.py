"""Ratios of two runs whose starts are not paired: Hodges-Lehmann shift, exact rank-sum interval.

Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", sections 4.1 to 4.3.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, positive_logs, probability
from benchbook.stats.intervals import Interval

LARGEST = 200


@lru_cache(maxsize=512)
def rank_sum_probabilities(first: int, second: int) -> Floats:
    """P(U = u) for u = 0 .. first * second: the Mann-Whitney statistic without ties.

    Exact by counting the choices of `first` ranks out of all by their sum, to the rounding of
    float64.
    """
    if not (1 <= first <= LARGEST and 1 <= second <= LARGEST):
        raise BenchbookError(
            f"{first} and {second} starts were given; the exact distribution takes 1 to {LARGEST}."
        )
    most = first * second
    ways = np.zeros((first + 1, most + 1))
    ways[0, 0] = 1.0
    for rank in range(1, first + second + 1):
        # With k values chosen the smallest sum of ranks is k (k + 1) / 2; sums are counted from it.
        for chosen in range(min(first, rank), 0, -1):
            more = rank - chosen
            if more <= most:
                ways[chosen, more:] += ways[chosen - 1, : most + 1 - more]
    chance = ways[first] / ways[first].sum()
    chance.setflags(write=False)
    return chance


@lru_cache(maxsize=4096)
def _cut(first: int, second: int, level: float) -> tuple[int, float]:
    """Which difference from each end is the interval's (0: there is none), and the level."""
    below = np.cumsum(rank_sum_probabilities(first, second))
    count = int(np.searchsorted(2 * below, (1 - level) * (1 + 1e-9), side="right"))
    return count, 1.0 if count == 0 else float(1 - 2 * below[count - 1])


def unpaired_ratio(numerator: ArrayLike, denominator: ArrayLike, level: float = 0.95) -> Interval:
    """The factor between two samples of values above zero, (m,) and (n,), with its interval.

    The median of all m n log ratios, and the interval that the exact rank-sum test does not
    reject at `level`. Too few values for that level: 0 to infinity. Error: the interval holds for
    independent values whose distributions differ by that factor; ties make it wider. What moves
    one whole run (a reboot, another state of the machine) is no error of it, and in the ratio.
    """
    probability(level, "The level")
    top, bottom = positive_logs(numerator, "Numerator"), positive_logs(denominator, "Denominator")
    logs = np.sort((top[:, None] - bottom[None, :]).ravel())
    count, attained = _cut(len(top), len(bottom), level)
    low, high = (0.0, math.inf) if not count else np.exp([logs[count - 1], logs[-count]])
    return Interval(
        float(np.exp(np.median(logs))),
        float(low),
        float(high),
        min(len(top), len(bottom)),
        attained,
    )

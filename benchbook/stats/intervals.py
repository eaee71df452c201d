"""Hodges-Lehmann estimates and exact signed-rank intervals; medians and exact sign intervals.

Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", sections 3.1 to 3.6.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite, probability

LARGEST_N = 1000


class Interval(NamedTuple):
    """An estimate with its interval, in the unit of the values; `attained` is the exact level."""

    estimate: float
    low: float
    high: float
    n: int
    attained: float


def adjusted_level(claims: int, level: float = 0.95) -> float:
    """The level of each interval, so that all of `claims` hold together at `level` (Bonferroni).

    Error: on the safe side for any dependence between the claims; wider than needed when they
    are strongly dependent.
    """
    probability(level, "The level")
    if claims < 1:
        raise BenchbookError(f"{claims} claims were given; an interval needs at least one.")
    return 1 - (1 - level) / claims


def least_blocks(claims: int, level: float = 0.95) -> int:
    """The smallest even number of blocks at which the exact interval is finite for every claim.

    The widest finite signed-rank interval of n blocks misses with probability 2 / 2**n, so n is
    the smallest even number with 2 / 2**n <= (1 - level) / claims. At 95 %: 6 for one claim, 8
    up to 6 claims, 10 up to 25, 12 up to 102. Even, so that a block order can be balanced.
    """
    allowed = 1 - adjusted_level(claims, level)
    n = 2
    while 2.0 ** (1 - n) > allowed * (1 + 1e-9):
        n += 2
    return n


@lru_cache(maxsize=512)
def signed_rank_probabilities(n: int) -> Floats:
    """P(W = w) for w = 0 .. n(n+1)/2: the Wilcoxon signed-rank statistic of n values, no ties.

    Exact by dynamic programming over the ranks, to the rounding of float64 (about 1e-15).
    """
    if not 1 <= n <= LARGEST_N:
        raise BenchbookError(
            f"{n} blocks were given; the exact distribution takes 1 to {LARGEST_N}."
        )
    chance = np.zeros(n * (n + 1) // 2 + 1)
    chance[0] = 1.0
    for rank in range(1, n + 1):
        shifted = np.zeros_like(chance)
        shifted[rank:] = chance[:-rank]
        chance = (chance + shifted) / 2
    chance.setflags(write=False)
    return chance


@lru_cache(maxsize=4096)
def _cut(n: int, level: float) -> tuple[int, float]:
    """Which Walsh average from each end is the interval's (0: there is none), and the level."""
    below = np.cumsum(signed_rank_probabilities(n))
    count = int(np.searchsorted(2 * below, (1 - level) * (1 + 1e-9), side="right"))
    return count, 1.0 if count == 0 else float(1 - 2 * below[count - 1])


def _averages(rows: Floats) -> Floats:
    """All averages of two values, each with itself too: shape (rows, n(n+1)/2)."""
    first, second = np.triu_indices(rows.shape[1])
    return (rows[:, first] + rows[:, second]) / 2


def _walsh(rows: Floats) -> Floats:
    """These averages, rising in each row."""
    averages = _averages(rows)
    averages.sort(axis=1)
    return averages


def hodges_lehmann(values: ArrayLike) -> float:
    """The median of all averages of two values (n,), in their unit.

    Error: it estimates the centre of symmetry; for a skewed distribution that is the
    pseudo-median, which is not the median. Up to 29 % of wild values cannot carry it away.
    """
    return float(np.median(_walsh(finite(values, "Hodges-Lehmann estimate")[None, :])))


def signed_rank_intervals(
    rows: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats, Floats, float]:
    """`signed_rank_interval` of each row (rows, n): estimates, lows, highs (rows,), attained."""
    table = finite(rows, "Signed-rank interval", 2)
    probability(level, "The level")
    n = table.shape[1]
    count, attained = _cut(n, float(level))
    averages = _walsh(table)
    estimates = np.median(averages, axis=1)
    if count == 0:
        open_end = np.full(len(table), math.inf)
        return estimates, -open_end, open_end, attained
    return estimates, averages[:, count - 1], averages[:, -count], attained


def signed_rank_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Hodges-Lehmann estimate and exact interval of values (n,), in their unit.

    The interval ends at Walsh averages chosen by the null distribution, never by a normal
    approximation; (-inf, inf) where n is too small for a finite one. Error: `attained` is exact
    and at least `level` for independent values, symmetric about one centre. With ties or zeros
    the closed interval covers at least as often; a skewed distribution has no such promise.
    """
    row = finite(values, "Signed-rank interval")
    estimates, lows, highs, attained = signed_rank_intervals(row[None, :], level)
    return Interval(float(estimates[0]), float(lows[0]), float(highs[0]), row.size, attained)


def median_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """The median of values (n,) and its exact interval, in their unit: the sign test's.

    The interval ends at ordered values, and is (-inf, inf) where n is too small for a finite one:
    at 95 % below 6. Error: `attained` is exact and at least `level` for independent values of any
    one distribution, also a skewed one or one in two groups; with ties it covers at least as often.
    It is wider than a signed-rank interval: at 95 %, 8 values reach from the least to the largest.
    """
    ordered = np.sort(finite(values, "Median"))
    probability(level, "The level")
    n = len(ordered)
    estimate = float(np.median(ordered))
    below, count = 0.0, 0  # chance that as many values or fewer lie below the median
    for k in range(n // 2):
        below += math.comb(n, k) / 2**n
        if 2 * below > (1 - level) * (1 + 1e-9):
            break
        count = k + 1
    if count == 0:
        return Interval(estimate, -math.inf, math.inf, n, 1.0)
    attained = 1 - 2 * sum(math.comb(n, k) for k in range(count)) / 2**n
    return Interval(estimate, float(ordered[count - 1]), float(ordered[-count]), n, attained)


def quotient_intervals(
    rows: ArrayLike, divisor: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Lows and highs (rows,) of q >= 0, where each row - q * divisor lies around zero.

    Rows (rows, n) and divisor (n,) in one unit. Every q is in the interval at which the signed-rank
    test of row - q * divisor does not reject zero; its ends are those of the ratios of averages of
    two values. An average of the divisor that is not above zero counts on the side that makes the
    interval wider. (-inf, inf) where n is too small. Source: E. C. Fieller, "Some problems in
    interval estimation", Journal of the Royal Statistical Society B 16 (1954), 175-185, by ranks.
    Error: as `signed_rank_interval`.
    """
    table, below = finite(rows, "Quotient", 2), finite(divisor, "Divisor of a quotient")
    probability(level, "The level")
    count, _ = _cut(table.shape[1], float(level))
    tops, bottoms = _averages(table), _averages(below[None, :])[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = tops / bottoms
    lowest = np.where(bottoms > 0, ratios, np.where(tops > 0, math.inf, -math.inf))
    highest = np.where(bottoms > 0, ratios, math.inf)
    if count == 0:
        open_end = np.full(len(table), math.inf)
        return -open_end, open_end
    lowest.sort(axis=1)
    highest.sort(axis=1)
    return lowest[:, count - 1], highest[:, -count]

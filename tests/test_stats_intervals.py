"""Hodges-Lehmann and signed-rank intervals against scipy, enumeration and hand-made data."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, wilcoxon

from benchbook import stats
from benchbook.core.errors import BenchbookError


@pytest.mark.parametrize(
    ("claims", "blocks"),
    [(1, 6), (2, 8), (6, 8), (7, 10), (25, 10), (26, 12), (100, 12), (102, 12), (103, 14)],
)
def test_least_blocks_of_the_design(claims, blocks):
    assert stats.least_blocks(claims) == blocks


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("claims", [1, 3, 6, 40])
def test_least_blocks_is_where_the_interval_becomes_finite(claims, level):
    n = stats.least_blocks(claims, level)
    values = np.random.default_rng(n).normal(size=n)
    wanted = stats.adjusted_level(claims, level)
    assert n % 2 == 0
    # No block lies on one side of the truth with binomial chance 2 * P(0 of n).
    assert 2 * binom.pmf(0, n, 0.5) <= 1 - wanted + 1e-12
    assert math.isfinite(stats.signed_rank_interval(values, wanted).low)
    if n > 2:
        assert stats.signed_rank_interval(values[: n - 2], wanted).high == math.inf


def test_adjusted_level_is_bonferroni():
    assert stats.adjusted_level(1) == pytest.approx(0.95)
    assert stats.adjusted_level(10) == pytest.approx(0.995)


@pytest.mark.parametrize("n", range(1, 11))
def test_null_distribution_is_that_of_all_sign_patterns(n):
    signs = np.array(list(itertools.product([0, 1], repeat=n)))
    sums = signs @ np.arange(1, n + 1)
    counted = np.bincount(sums, minlength=n * (n + 1) // 2 + 1) / 2**n
    assert stats.signed_rank_probabilities(n) == pytest.approx(counted, abs=1e-15)


@pytest.mark.parametrize("n", [12, 25, 50])
def test_null_distribution_gives_the_exact_p_values_of_scipy(n):
    values = np.random.default_rng(n).normal(0.3, 1.0, n)
    result = wilcoxon(values, method="exact")
    below = stats.signed_rank_probabilities(n)[: int(result.statistic) + 1].sum()
    assert min(1.0, 2 * below) == pytest.approx(result.pvalue, rel=1e-12)


@pytest.mark.parametrize("n", [100, 200])
def test_null_distribution_of_many_blocks(n):
    chance = stats.signed_rank_probabilities(n)
    w = np.arange(chance.size)
    mean = (w * chance).sum()
    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(n * (n + 1) / 4)
    assert ((w - mean) ** 2 * chance).sum() == pytest.approx(n * (n + 1) * (2 * n + 1) / 24)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [8, 12, 17, 24, 40])
def test_interval_is_where_the_exact_test_does_not_reject(n, level):
    values = np.random.default_rng([n, 5]).normal(1.0, 2.0, n)
    interval = stats.signed_rank_interval(values, level)
    small = 1e-9

    def p(centre):
        return wilcoxon(values - centre, method="exact").pvalue

    assert p(interval.low + small) > 1 - level
    assert p(interval.high - small) > 1 - level
    assert p(interval.low - small) <= 1 - level
    assert p(interval.high + small) <= 1 - level
    assert interval.attained == pytest.approx(1 - p(interval.low - small))


def test_textbook_values_by_hand():
    # Walsh averages of 1, 2, 4: 1, 1.5, 2, 2.5, 3, 4.
    assert stats.hodges_lehmann([4, 1, 2]) == pytest.approx(2.25)
    # Six values at 95 %: from the smallest to the largest, 1 - 2/64.
    interval = stats.signed_rank_interval([3.0, 1.0, 2.0, 9.0, 5.0, 4.0])
    assert (interval.low, interval.high, interval.n) == (1.0, 9.0, 6)
    assert interval.attained == pytest.approx(1 - 2 / 64)


def test_published_attained_levels():
    """Tables of the signed-rank statistic: P(W <= 3) = 5/256 for 8, P(W <= 13) = 87/4096 for 12."""
    rng = np.random.default_rng(0)
    attained = [stats.signed_rank_interval(rng.normal(size=n)).attained for n in (8, 12)]
    assert attained == pytest.approx([1 - 2 * 5 / 256, 1 - 2 * 87 / 4096])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_too_few_blocks_have_no_finite_interval(n):
    interval = stats.signed_rank_interval(np.arange(n))
    assert (interval.low, interval.high) == (-math.inf, math.inf)
    assert interval.attained == 1.0
    assert interval.estimate == pytest.approx((n - 1) / 2)


def test_ties_and_zeros_keep_the_interval_closed():
    same = stats.signed_rank_interval(np.zeros(8))
    assert (same.estimate, same.low, same.high) == (0.0, 0.0, 0.0)
    signs = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=8)))
    _, lows, highs, attained = stats.signed_rank_intervals(signs)
    assert ((lows <= 0) & (highs >= 0)).mean() >= attained


def test_interval_moves_and_scales_with_the_values():
    values = np.random.default_rng(4).normal(size=16)
    base, moved = stats.signed_rank_interval(values), stats.signed_rank_interval(10 - 2 * values)
    assert moved.estimate == pytest.approx(10 - 2 * base.estimate)
    assert (moved.low, moved.high) == pytest.approx((10 - 2 * base.high, 10 - 2 * base.low))


def test_wild_values_do_not_carry_the_estimate_away():
    values = np.r_[np.linspace(-1, 1, 18), np.full(5, 1e9)]
    assert abs(stats.hodges_lehmann(values)) < 2


def test_rows_give_what_single_calls_give():
    rows = np.random.default_rng(8).normal(size=(20, 12))
    estimates, lows, highs, attained = stats.signed_rank_intervals(rows, 0.9)
    for row, *found in zip(rows, estimates, lows, highs, strict=True):
        one = stats.signed_rank_interval(row, 0.9)
        assert [*found, attained] == [one.estimate, one.low, one.high, one.attained]


@pytest.mark.parametrize(
    "values", [[], [1.0, math.nan], [1.0, math.inf], [[1.0, 2.0]], ["a", "b"], [None, 1.0]]
)
def test_what_is_no_row_of_finite_numbers_is_refused(values):
    with pytest.raises(BenchbookError):
        stats.signed_rank_interval(values)
    with pytest.raises(BenchbookError):
        stats.hodges_lehmann(values)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, math.nan])
def test_a_level_is_a_probability(level):
    with pytest.raises(BenchbookError):
        stats.signed_rank_interval([1.0, 2.0], level)
    with pytest.raises(BenchbookError):
        stats.least_blocks(1, level)


def test_other_arguments_out_of_range():
    with pytest.raises(BenchbookError):
        stats.least_blocks(0)
    with pytest.raises(BenchbookError):
        stats.signed_rank_probabilities(0)
    with pytest.raises(BenchbookError):
        stats.signed_rank_probabilities(1001)


def test_a_quotient_by_a_constant_is_the_interval_divided():
    values = np.array([[3.0, 5.0, 4.5, 7.0, 2.0, 6.0, 8.0, 1.5]])
    _, lows, highs, _ = stats.signed_rank_intervals(values)
    assert stats.quotient_intervals(values, np.full(8, 4.0)) == (lows / 4, highs / 4)


def test_a_quotient_is_where_the_difference_may_be_zero():
    dice = np.random.default_rng(2)
    row, below = dice.normal(3, 1, 20), dice.normal(10, 1, 20)
    (low,), (high,) = stats.quotient_intervals(row[None], below, 0.9)
    for q, inside in ((low, True), (high, True), (low - 1e-6, False), (high + 1e-6, False)):
        interval = stats.signed_rank_interval(row - q * below, 0.9)
        assert (interval.low <= 1e-9 and interval.high >= -1e-9) == inside


def test_a_quotient_by_what_may_be_zero_has_no_upper_end():
    dice = np.random.default_rng(3)
    (low,), (high,) = stats.quotient_intervals(dice.normal(5, 1, (1, 12)), dice.normal(0, 1, 12))
    assert high == math.inf
    assert low > 0
    assert stats.quotient_intervals(np.ones((1, 4)), np.ones(4)) == (-math.inf, math.inf)


def test_quotients_cover_the_truth():
    dice = np.random.default_rng(4)
    covered = 0
    for _ in range(1000):
        row, below = dice.normal(4, 1, (1, 12)), dice.normal(8, 2, 12)
        (low,), (high,) = stats.quotient_intervals(row, below)
        covered += low <= 0.5 <= high
    assert covered >= 940

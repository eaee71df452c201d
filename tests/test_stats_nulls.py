"""A/A, smallest effect, and the range of equal points against its known distribution."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, studentized_range

from benchbook import stats
from benchbook.analyse.null_tests import ratio_interval
from benchbook.core.errors import BenchbookError


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [
        (0.98, 1.02, True),
        (1.0, 1.1, True),
        (0.9, 1.0, True),
        (1.01, 1.1, False),
        (0.0, math.inf, True),
    ],
)
def test_null_check(low, high, holds):
    assert stats.null_check(low, high) is holds


@pytest.mark.parametrize(("low", "high"), [(math.nan, 1.0), (1.2, 1.1)])
def test_an_a_a_interval_that_is_none_is_refused(low, high):
    with pytest.raises(BenchbookError):
        stats.null_check(low, high)


@pytest.mark.parametrize(
    ("own", "a_a", "low", "high", "effect", "limit"),
    [
        (0.05, 0.02, 0.99, 1.01, 0.05, "own"),
        (0.01, 0.02, 0.99, 1.01, 0.02, "a_a"),
        (0.01, 0.02, 0.90, 1.01, -math.log(0.90), "relinked"),
        (0.01, 0.02, 1.03, 1.08, math.log(1.08), "relinked"),
        (0.01, 0.02, 0.0, math.inf, math.inf, "relinked"),
        (0.01, None, 0.99, 1.01, math.inf, "a_a"),
        (0.01, 0.02, None, None, math.inf, "relinked"),
    ],
)
def test_smallest_effect_is_the_largest_of_three(own, a_a, low, high, effect, limit):
    found = stats.smallest_effect(own, a_a, low, high)
    assert found.log_effect == pytest.approx(effect)
    assert found.limit == limit
    assert found.ratio == pytest.approx(math.exp(effect))


@pytest.mark.parametrize(
    ("own", "a_a", "low", "high"),
    [(math.nan, 0.1, 1, 1), (0.1, -0.1, 1, 1), (0.1, 0.1, 1.1, 1.0), (0.1, 0.1, math.nan, 1.0)],
)
def test_smallest_effect_refuses_what_is_no_width(own, a_a, low, high):
    with pytest.raises(BenchbookError):
        stats.smallest_effect(own, a_a, low, high)


def test_range_statistic_by_hand():
    assert stats.range_statistic([80.0, 100.0, 90.0]) == pytest.approx(0.2)
    assert stats.range_statistic([5.0, 5.0]) == 0.0
    for bad in ([], [1.0, math.nan], [1.0, 0.0]):
        with pytest.raises(BenchbookError):
            stats.range_statistic(bad)


def test_null_of_two_points_has_a_closed_form():
    """1 - exp(-|d|) with d normal of variance 2 sd^2."""
    null = stats.range_null(points=2, log_sd=0.03, draws=20_000)
    for share in (0.25, 0.5, 0.95):
        exact = -math.expm1(-norm.ppf((1 + share) / 2) * 0.03 * math.sqrt(2))
        assert np.quantile(null, share) == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("points", [5, 20])
def test_null_of_many_points_is_the_range_of_normal_values(points):
    null = stats.range_null(points, log_sd=0.001, draws=20_000)
    exact = studentized_range.ppf([0.5, 0.95], points, 1e6) * 0.001
    assert np.quantile(null, [0.5, 0.95]) == pytest.approx(-np.expm1(-exact), rel=0.02)


def test_the_range_grows_with_points_and_shrinks_with_blocks():
    medians = [np.median(stats.range_null(k, 0.02, draws=2000)) for k in (2, 5, 20, 80)]
    assert medians == sorted(medians)
    blocks = [np.median(stats.range_null(10, 0.02, n, draws=2000)) for n in (1, 8, 24)]
    assert blocks == sorted(blocks, reverse=True)


def test_the_seed_is_fixed():
    assert (stats.range_null(4, 0.1, draws=50) == stats.range_null(4, 0.1, draws=50)).all()
    assert (stats.range_null(4, 0.1, draws=50) != stats.range_null(4, 0.1, draws=50, seed=1)).any()
    assert (np.diff(stats.range_null(4, 0.1, draws=50)) >= 0).all()
    assert (stats.range_null(4, 0.0, draws=50) == 0).all()


@pytest.mark.parametrize(
    ("points", "log_sd", "blocks"), [(1, 0.1, 1), (2, 0.1, 0), (2, -0.1, 1), (2, math.nan, 1)]
)
def test_a_range_needs_points_blocks_and_a_spread(points, log_sd, blocks):
    with pytest.raises(BenchbookError):
        stats.range_null(points, log_sd, blocks)


def test_share_at_least_counts_the_observed_value_too():
    null = np.arange(1, 100) / 100
    assert stats.share_at_least(null, 0.5) == pytest.approx(51 / 100)
    assert stats.share_at_least(null, 2.0) == pytest.approx(1 / 100)
    assert stats.share_at_least(null, 0.0) == 1.0
    with pytest.raises(BenchbookError):
        stats.share_at_least([], 1.0)


def test_what_is_not_above_zero_has_no_ratio():
    """Calls that move no bytes have no rate, and times below a tick have no logarithm."""
    rows = [(block, point) for block in range(8) for point in "ab"]
    calls = pd.DataFrame(rows, columns=["block", "point"]).assign(bytes_declared=0, median_ns=5.0)
    assert ratio_interval(calls, "a", "b", "rate", "median_ns", 1) is None
    assert ratio_interval(calls.assign(median_ns=0.0), "a", "b", "time", "median_ns", 1) is None
    same = ratio_interval(calls, "a", "b", "time", "median_ns", 1)
    assert same is not None and same["ratio"] == 1

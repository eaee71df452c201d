"""Warm-up: found where it was put, not seen in steady samples."""

import math

import numpy as np
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError


def steady(rng, n, correlation=0.0, spread=0.03):
    logs = rng.standard_normal(n)
    for i in range(1, n):
        logs[i] = correlation * logs[i - 1] + math.sqrt(1 - correlation**2) * logs[i]
    return spread * logs


def found(draw, n, times=300):
    rng = np.random.default_rng([n, 21])
    return np.array([stats.warm_up_length(np.exp(draw(rng, n))) for _ in range(times)])


def slow_start(count, factor):
    def draw(rng, n):
        logs = steady(rng, n)
        logs[:count] += math.log(factor)
        return logs

    return draw


@pytest.mark.parametrize(
    ("n", "correlation", "at_most"),
    [
        (10, 0.0, 0.12),
        (15, 0.0, 0.05),
        (30, 0.0, 0.03),
        (100, 0.0, 0.01),
        (30, 0.7, 0.1),
        (100, 0.7, 0.04),
    ],
)
def test_steady_samples_have_no_warm_up(n, correlation, at_most):
    lengths = found(lambda rng, n: steady(rng, n, correlation), n)
    assert (lengths > 0).mean() <= at_most


@pytest.mark.parametrize("n", [15, 30, 100, 500])
def test_a_first_sample_seven_times_slower_is_found(n):
    """Page faults at the first touch."""
    assert (found(slow_start(1, 7.0), n) == 1).mean() >= 0.95


@pytest.mark.parametrize(("n", "count"), [(15, 3), (30, 6), (100, 20), (500, 100)])
def test_a_slow_first_fifth_is_found_to_the_sample(n, count):
    assert (found(slow_start(count, 1.2), n) == count).mean() >= 0.85


def test_a_fast_start_is_not_steady_either():
    assert (found(slow_start(10, 1 / 1.5), 60) == 10).mean() >= 0.95


def test_a_ramp_is_followed_until_it_is_lost_in_the_noise():
    def ramp(rng, n):
        return steady(rng, n) + math.log(3) * np.exp(-np.arange(n) / 10)

    lengths = found(ramp, 200)
    assert 20 <= np.median(lengths) <= 50


@pytest.mark.parametrize("at", [1, 2, 20])
def test_one_delay_after_the_first_sample_is_no_warm_up(at):
    def delayed(rng, n):
        logs = steady(rng, n)
        logs[at] += math.log(20)
        return logs

    assert (found(delayed, 60) > 0).mean() <= 0.05


def test_exact_times():
    assert stats.warm_up_length([100] * 40) == 0
    assert stats.warm_up_length([900, 100, *[100] * 38]) == 1
    assert stats.warm_up_length([900, 800, 700, *[100] * 37]) == 3


def test_at_most_half_is_warm_up():
    assert stats.warm_up_length(np.r_[np.full(30, 2.0), np.full(10, 1.0)]) <= 20


def test_the_unit_does_not_matter():
    times = np.exp(slow_start(4, 1.5)(np.random.default_rng(2), 50))
    assert stats.warm_up_length(times) == stats.warm_up_length(times * 1e6) == 4


def test_too_few_samples_cannot_be_told():
    assert stats.warm_up_length(np.ones(9)) is None
    assert stats.warm_up_length(np.ones(10)) == 0


@pytest.mark.parametrize("bad", [[], [1.0] * 20 + [math.nan], [1.0] * 20 + [0.0]])
def test_times_without_logarithm_are_refused(bad):
    with pytest.raises(BenchbookError):
        stats.warm_up_length(bad)

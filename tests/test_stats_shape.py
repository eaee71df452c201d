"""Shape: mixtures flagged, ordinary distributions not."""

import math

import numpy as np
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError

ONE_MODE = {
    "normal": lambda rng, n: rng.normal(100, 1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 0.05, n),
    "uniform": lambda rng, n: rng.uniform(10, 20, n),
    "exponential": lambda rng, n: rng.exponential(1, n),
}


def mixture(distance, share):
    return lambda rng, n: rng.normal(100, 1, n) + distance * (rng.random(n) < share)


def shapes(draw, n, times=300):
    rng = np.random.default_rng([n, 31])
    return [stats.shape(draw(rng, n)) for _ in range(times)]


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_is_left_whole(name, n):
    found = shapes(ONE_MODE[name], n)
    assert np.mean([shape.modes != 1 for shape in found]) <= 0.03
    if name != "exponential":
        assert np.mean([shape.heavy_tail for shape in found]) <= 0.01


@pytest.mark.parametrize(
    ("distance", "share", "n", "at_least"),
    [
        (8, 0.5, 20, 0.8),
        (8, 0.5, 50, 0.99),
        (6, 0.5, 50, 0.97),
        (8, 0.2, 50, 0.8),
        (6, 0.2, 200, 0.99),
    ],
)
def test_two_clear_modes_are_seen(distance, share, n, at_least):
    found = shapes(mixture(distance, share), n)
    assert np.mean([shape.modes == 2 for shape in found]) >= at_least


def test_three_modes_and_where_the_valleys_lie():
    values = np.r_[np.linspace(0, 1, 50), np.linspace(10, 11, 50), np.linspace(20, 21, 50)]
    found = stats.shape(values)
    assert found.modes == 3
    assert 1 < found.valleys[0] < 10 < 11 < found.valleys[1] < 20


def test_under_a_tenth_of_the_values_is_a_tail_and_no_mode():
    values = np.r_[np.random.default_rng(0).normal(100, 1, 190), np.full(10, 400.0)]
    found = stats.shape(values)
    assert found.modes == 1
    assert found.heavy_tail


def test_one_percent_of_long_delays_is_a_heavy_tail():
    values = np.r_[np.random.default_rng(0).normal(100, 3, 990), np.full(10, 10_000.0)]
    assert stats.shape(values).heavy_tail


def test_a_far_mode_is_not_also_a_tail():
    values = np.r_[np.random.default_rng(0).normal(100, 1, 170), np.full(30, 200.0)]
    found = stats.shape(values)
    assert found.modes == 2
    assert not found.heavy_tail


def test_steps_of_the_clock_are_no_modes():
    ticks = np.random.default_rng(0).choice([100.0, 110.0], 200)
    assert stats.shape(ticks).modes == 2
    assert stats.shape(ticks, resolution=10.0).modes == 1


def test_quantiles_interpolate():
    found = stats.shape(np.arange(101.0))
    assert found.quantiles == {
        q: pytest.approx(100 * q) for q in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
    }
    assert found.n == 101


def test_unit_and_order_do_not_matter():
    values = mixture(8, 0.5)(np.random.default_rng(0), 100)
    first, second = stats.shape(values), stats.shape(values[::-1] * 1e6)
    assert (first.modes, first.heavy_tail) == (second.modes, second.heavy_tail)
    assert second.valleys == pytest.approx([1e6 * v for v in first.valleys], rel=0.02)


def test_equal_values_are_one_mode():
    found = stats.shape(np.full(50, 7.0))
    assert (found.modes, found.heavy_tail) == (1, False)


def test_mostly_equal_values():
    """More than half the values equal: the quartile range is zero, and no bandwidth may be."""
    assert stats.shape(np.r_[np.full(80, 7.0), np.full(20, 9.0)]).modes == 2
    assert stats.shape(np.r_[np.full(97, 7.0), np.full(3, 9.0)]).modes == 1


def test_a_value_far_beyond_all_others_is_no_memory_hog():
    values = np.r_[np.random.default_rng(0).normal(1, 1e-6, 200), 1e9]
    assert stats.shape(values).modes == 1


def test_too_few_values_cannot_be_told():
    found = stats.shape([1.0, 2.0, 3.0])
    assert (found.modes, found.heavy_tail) == (None, None)
    assert found.quantiles[0.5] == 2.0


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [1.0, math.inf]])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(BenchbookError):
        stats.shape(bad)
    with pytest.raises(BenchbookError):
        stats.shape([1.0, 2.0], resolution=-1.0)

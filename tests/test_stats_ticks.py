"""Ticks: a coarse clock shows in its intervals, a fine one does not."""

from __future__ import annotations

import numpy as np
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError


@pytest.mark.parametrize("tick", [1_000, 1_000_000, 15_625_000])
@pytest.mark.parametrize("length", [0.1, 1.5, 7.3])
def test_a_coarse_tick_is_found(tick: int, length: float) -> None:
    dice = np.random.default_rng(1)
    found = stats.ticks(np.floor(dice.random(200) + length) * tick)
    assert (found.step, found.coincide) == (tick, True)


def test_the_smallest_difference_of_a_fine_clock_is_small() -> None:
    found = stats.ticks(np.rint(np.random.default_rng(1).normal(30_000, 600, 400)))
    assert found.step <= 10
    assert not found.coincide


def test_a_tick_that_is_rounded_is_found_by_groups() -> None:
    whole = np.random.default_rng(1).integers(2, 6, 300)
    found = stats.ticks(np.rint(whole * 10.02))
    assert found.step == pytest.approx(10, abs=0.6)


def test_groups_at_no_multiples_are_no_ticks() -> None:
    assert stats.ticks(np.repeat([101, 102, 147, 148, 230], 20)).step == 1


def test_what_tells_nothing() -> None:
    assert stats.ticks([1000] * 9 + [2000] * 0).step is None
    assert stats.ticks([1000] * 50).step is None
    assert stats.ticks([0] * 50).step is None
    with pytest.raises(BenchbookError):
        stats.ticks([])

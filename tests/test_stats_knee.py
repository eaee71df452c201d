"""Where a size sweep falls: brackets on sweeps made by hand."""

from __future__ import annotations

import pytest

from benchbook.core.errors import BenchbookError
from benchbook.stats import last_knee

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


def test_last_fall_is_bracketed() -> None:
    knee = last_knee(SIZES, [90, 90, 50, 50, 50, 20, 20, 21])
    assert knee is not None
    assert (knee.low, knee.high) == (16, 32)
    assert knee.ratio == pytest.approx(0.4)


def test_order_of_measuring_does_not_matter() -> None:
    rates = dict(zip(SIZES, [90, 90, 50, 50, 50, 20, 20, 21], strict=True))
    mixed = [16, 1, 128, 4, 64, 2, 32, 8]
    assert last_knee(mixed, [rates[size] for size in mixed]) == last_knee(
        SIZES, list(rates.values())
    )


def test_flat_gradual_and_short_sweeps_have_none() -> None:
    assert last_knee(SIZES, [50, 51, 49, 50, 48, 50, 51, 50]) is None
    assert last_knee(SIZES, [100, 90, 81, 73, 66, 60, 54, 49]) is None
    assert last_knee([1, 2, 4], [90, 50, 20]) is None


@pytest.mark.parametrize("rates", [[1.0] * 3, [1.0] * 7 + [0.0], [1.0] * 7 + [float("nan")]])
def test_bad_sweeps_are_errors(rates: list[float]) -> None:
    with pytest.raises(BenchbookError):
        last_knee(SIZES, rates)

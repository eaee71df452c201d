"""Numbers on pages: no bound is rounded across the edge that decides."""

from __future__ import annotations

import random
import re
from typing import Any

import claimed
import pytest

from benchbook.core import number_format
from benchbook.report import reasons
from benchbook.report.sections import claims as claims_section


def shown(kind: str, region: list[float | None], value: float, low: float, high: float) -> Any:
    """As much of a claim in paper.json as its number is made of."""
    return {
        "kind": kind,
        "region": region,
        "estimate": value,
        "interval": [low, high],
        "blocks": 8,
        "unit": "ratio of times",
        "shown_in": "",
        "verdict": "inconclusive",
        "through": None,
        "reason": {"code": "over_the_edge"},
    }


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_an_end_below_the_bound_is_not_printed_at_it() -> None:
    """It was printed `1.3 (1.0 to 2.6)` next to `at least 1`, and called undecided."""
    claim = shown("ratio", [1, None], 1.3, 0.951, 2.614)
    assert claims_section.value(claim) == "1.3 (0.95 to 2.6)"
    assert claims_section.region(claim) == "at least 1"
    assert "0.95 to 2.6" in reasons.sentence(claim)


@pytest.mark.parametrize("kind", ["ratio", "difference", "range", "explained_share"])
def test_every_number_stays_on_its_side_of_the_bounds_as_printed(kind: str) -> None:
    draw = random.Random(31)
    for _ in range(2000):
        # The end of a range's interval at 1 is none.
        low_bound = draw.choice([0.05, 0.5, 0.95, 1.0, 1.094, 10**0.5 / 4]) * (
            0.5 if kind == "range" else 1
        )
        bounds = [low_bound, draw.choice([None, 1.25 * low_bound])]
        value = low_bound * draw.uniform(0.97, 1.3)
        low, high = value * draw.uniform(0.9, 1), value * draw.uniform(1, 1.1)
        claim = shown(kind, bounds, value, low, high)
        said = numbers(claims_section.value(claim).replace("%", ""))
        edges = numbers(claims_section.region(claim).replace("%", ""))
        for exact, printed in zip((value, low, high), said, strict=True):
            for bound, edge in zip([b for b in bounds if b is not None], edges, strict=True):
                sides = (exact > bound) - (exact < bound), (printed > edge) - (printed < edge)
                assert sides[0] == sides[1], (exact, bound, printed, edge)


def test_bounds_are_printed_as_declared() -> None:
    assert number_format.bound(1.094) == "1.094"
    assert number_format.bound(10**0.5) == "3.162"
    assert reasons.in_region([0.983, None]) == "at least 0.983"


def test_away_from_the_bounds_the_interval_chooses_the_digits() -> None:
    claim = claimed.claim(claimed.ratio(), [1, None])
    assert claim["region"] == [1, None]
    assert number_format.with_interval(9.21, 8.83, 9.74, edges=[1.0]) == "9.2 (8.8 to 9.7)"


def test_a_value_that_is_not_zero_is_not_printed_as_zero() -> None:
    assert number_format.with_interval(0.452, 0.0, 9.71) == "0.5 (0 to 10)"
    assert number_format.with_interval(0.0, -5.0, 5.0) == "0 (-5 to 5)"
    assert number_format.with_interval(0.004, -5.0, 5.0) == "0 (-5 to 5)"  # nearer to it than told


def test_a_quotient_is_that_of_the_numbers_as_printed() -> None:
    assert number_format.quotient("131,300", "21,600") == "6.08"
    assert number_format.quotient("59.7", "12.5") == "4.78"

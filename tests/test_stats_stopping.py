"""The decision at each look."""

import inspect
import math

import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError

WIDE, NARROW, TARGET = 0.5, 0.01, 0.05
LOOKS = (8, 12, 16, 24)


def decide(done, widths, least=8, budget=True, looks=LOOKS):
    return stats.next_look(done, looks, widths, TARGET, least, budget)


@pytest.mark.parametrize(
    ("done", "widths", "budget", "expected"),
    [
        (8, [NARROW, TARGET], True, ("stop", 8, "width")),
        (8, [NARROW, WIDE], True, ("continue", 12, "")),
        (12, [WIDE], True, ("continue", 16, "")),
        (16, [math.inf], True, ("continue", 24, "")),
        (24, [WIDE], True, ("stop", 24, "last_look")),
        (24, [NARROW], True, ("stop", 24, "width")),
        (12, [WIDE], False, ("stop", 12, "budget")),
        (12, [NARROW], False, ("stop", 12, "width")),
        (24, [WIDE], False, ("stop", 24, "last_look")),
        (0, [math.inf], True, ("continue", 8, "")),
        (0, [math.inf], False, ("stop", 0, "budget")),
        (30, [WIDE], True, ("stop", 30, "last_look")),
    ],
)
def test_decisions(done, widths, budget, expected):
    found = decide(done, widths, budget=budget)
    assert (found.action, found.blocks, found.reason) == expected


def test_between_looks_the_width_is_not_looked_at():
    """A run resumed after 9 blocks goes on to 12, however narrow it is by now."""
    assert decide(9, [NARROW]).blocks == 12
    assert decide(9, [NARROW]).action == "continue"


def test_many_claims_shift_the_first_look():
    assert stats.looks_from(LOOKS, 10) == (10, 12, 16, 24)
    assert stats.looks_from(LOOKS, 6) == (8, 12, 16, 24)
    assert stats.looks_from(LOOKS, 12) == (12, 16, 24)
    assert stats.looks_from(LOOKS, 26) == (26,)
    assert decide(8, [NARROW], least=10).blocks == 10
    assert decide(10, [NARROW], least=10).reason == "width"
    assert decide(24, [WIDE], least=26).blocks == 26
    assert decide(26, [WIDE], least=26).reason == "last_look"


def test_nothing_to_compare_stops_at_the_first_look():
    assert decide(0, []).action == "continue"
    assert decide(8, []).reason == "width"


def test_the_estimate_cannot_be_seen():
    names = set(inspect.signature(stats.next_look).parameters)
    assert names == {
        "blocks_done",
        "looks",
        "half_widths",
        "target_half_width",
        "least",
        "budget_allows_next",
    }


@pytest.mark.parametrize("widths", [[math.nan], [-0.1]])
def test_a_width_that_is_none_is_refused(widths):
    with pytest.raises(BenchbookError):
        decide(8, widths)


@pytest.mark.parametrize("looks", [(), (8, 8), (12, 8), (0, 4)])
def test_looks_must_rise(looks):
    with pytest.raises(BenchbookError):
        decide(8, [WIDE], looks=looks)


@pytest.mark.parametrize("target", [0.0, -1.0, math.nan])
def test_the_target_is_above_zero(target):
    with pytest.raises(BenchbookError):
        stats.next_look(8, LOOKS, [WIDE], target, 8, True)

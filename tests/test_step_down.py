"""The step-down procedure, with intervals that can be worked out by hand.

Of 8 blocks with the values 1, 2, 4, … 128 the averages of pairs begin 1, 1.5, 2, 2.5, 3. The exact
interval of one claim among three starts at the second of them, of one among two at the third, of
one alone at the fourth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from claimed import CONTENT, SIZES, claim, known, ratio, summaries, twin_id
from numpy.typing import NDArray

from benchbook.judge.claims import Verdict
from benchbook.judge.resolved_claim import Claim, Measured
from benchbook.judge.verdicts import judge_claims

BASE = "v,method=b"
VALUES = 2.0 ** np.arange(8)
STEP = 0.01  # of a log ratio, so that all effects are far above what is smallest here
POINTS = known({"method": ["a", "b", "c", "d"]}, twin_of={"method": "b"})
Logs = dict[str, NDArray[np.floating]]
LOGS: Logs = {
    BASE: np.zeros(8),
    **{f"v,method={name}": 5 + STEP * VALUES for name in "acd"},
    **{twin_id(BASE, twin): np.zeros(8) for twin in ("again", "relinked")},
}


def at_least(edge: float, top: str, **changes: Any) -> dict[str, Any]:
    """The claim that a ratio's log is above 5 by this many steps."""
    return claim(ratio(top, "b"), [math.exp(5 + STEP * edge), None], **changes)


def judged(figure: Sequence[dict[str, Any]], logs: Logs = LOGS) -> list[Verdict]:
    run = Measured(list(POINTS.values()), summaries(logs))
    return judge_claims([Claim.of(of) for of in figure], "", CONTENT, SIZES, run, {}, {})[0]


def by_level(figure: Sequence[dict[str, Any]], logs: Logs = LOGS) -> list[tuple[str, int]]:
    return [(verdict.verdict, verdict.intervals) for verdict in judged(figure, logs)]


def test_what_a_decided_claim_leaves_decides_the_next() -> None:
    figure = [at_least(2.25, "a"), at_least(1.75, "c"), at_least(1.25, "d")]
    assert by_level(figure) == [("reproduced", 1), ("reproduced", 2), ("reproduced", 3)]
    low = [math.log((verdict.interval or [0])[0] or 0) for verdict in judged(figure)]
    assert (np.array(low) - 5) / STEP == pytest.approx([2.5, 2, 1.5])


def test_a_step_that_decides_nothing_is_the_last() -> None:
    figure = [at_least(2.25, "a"), at_least(2.25, "c"), at_least(1.25, "d")]
    assert by_level(figure) == [("inconclusive", 2), ("inconclusive", 2), ("reproduced", 3)]
    figure = [at_least(1.75, "a"), at_least(1.75, "c"), at_least(1.75, "d")]
    assert by_level(figure) == [("inconclusive", 3)] * 3


def test_a_refuted_claim_frees_its_share_too() -> None:
    refuted = claim(ratio("d", "b"), [None, 2])
    assert by_level([at_least(1.75, "a"), at_least(1.25, "c"), refuted]) == [
        ("reproduced", 1),
        ("reproduced", 3),
        ("not_reproduced", 3),
    ]


def test_an_interval_that_two_claims_share_is_free_when_both_are_decided() -> None:
    decided = at_least(1.25, "d")
    assert by_level([at_least(2.25, "a"), decided, at_least(1.25, "d")])[0] == ("reproduced", 1)
    open_too = at_least(2.75, "d")
    assert by_level([at_least(1.75, "a"), decided, open_too]) == [
        ("reproduced", 2),
        ("reproduced", 2),
        ("inconclusive", 1),
    ]


def test_by_another_statistic_it_is_another_interval() -> None:
    figure = [at_least(1.25, "a"), at_least(1.25, "a", statistic="mean")]
    assert [intervals for _, intervals in by_level(figure)] == [2, 2]


def test_twins_widen_at_the_level_of_the_claim() -> None:
    """The same binary twice differs by one claim of two, and not yet by one of three."""
    twice: Logs = {twin_id(BASE, "again"): STEP * (VALUES - 1.75)}
    figure = [at_least(1.75, "a"), at_least(1.75, "c"), at_least(1.25, "d")]
    assert by_level(figure, LOGS | twice)[2] == ("reproduced", 3)
    first, _, last = judged(figure, LOGS | twice)
    assert (first.verdict, first.intervals) == ("inconclusive", 2)
    assert "widened_by" in first.reason.parameters
    assert "widened_by" not in last.reason.parameters
    assert by_level(figure)[0] == ("reproduced", 2)

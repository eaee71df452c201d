"""Verdicts by the interval rule, and the price of an inconclusive one."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from benchbook import stats
from benchbook.core.errors import BenchbookError


@pytest.mark.parametrize(
    ("interval", "region", "verdict"),
    [
        ((1.2, 1.4), (1.1, 1.5), "reproduced"),
        ((1.1, 1.5), (1.1, 1.5), "reproduced"),
        ((1.6, 1.7), (1.1, 1.5), "not_reproduced"),
        ((0.9, 1.0), (1.1, 1.5), "not_reproduced"),
        ((1.0, 1.2), (1.1, 1.5), "inconclusive"),
        ((1.4, 1.6), (1.1, 1.5), "inconclusive"),
        ((0.9, 1.9), (1.1, 1.5), "inconclusive"),
        ((1.5, 1.7), (1.1, 1.5), "inconclusive"),
        ((5.1, 9.0), (5.0, None), "reproduced"),
        ((5.1, math.inf), (5.0, None), "reproduced"),
        ((2.0, 4.0), (5.0, None), "not_reproduced"),
        ((0.5, 0.9), (None, 1.0), "reproduced"),
        ((0.0, math.inf), (0.95, 1.05), "inconclusive"),
    ],
)
def test_interval_rule(interval, region, verdict):
    assert stats.decide(*interval, *region) == verdict


@pytest.mark.parametrize(
    ("interval", "region"),
    [
        ((1.0, 2.0), (None, None)),
        ((1.0, 2.0), (2.0, 1.0)),
        ((1.0, 2.0), (math.nan, 1.0)),
        ((2.0, 1.0), (1.0, 2.0)),
        ((math.nan, 1.0), (1.0, 2.0)),
    ],
)
def test_what_is_no_interval_or_region_is_refused(interval, region):
    with pytest.raises(BenchbookError):
        stats.decide(*interval, *region)


def test_a_claim_about_all_of_several():
    yes, no, open_ = "reproduced", "not_reproduced", "inconclusive"
    assert stats.decide_all([yes, yes]) == yes
    assert stats.decide_all([yes, open_]) == open_
    assert stats.decide_all([yes, open_, no]) == no
    with pytest.raises(BenchbookError):
        stats.decide_all([])


def test_settling_margin_is_the_way_to_the_nearest_bound():
    assert stats.settling_margin(1.2, [1.1, 1.5]) == pytest.approx(0.1)
    assert stats.settling_margin(-3.0, [2.0]) == pytest.approx(5.0)
    assert stats.settling_margin(1.2, [2.0, math.inf]) == pytest.approx(0.8)
    assert stats.settling_margin(1.5, [1.1, 1.5]) == 0.0
    for value, bounds in ((math.nan, [1, 2]), (math.inf, [1, 2]), (1.0, []), (1.0, [math.inf])):
        with pytest.raises(BenchbookError):
            stats.settling_margin(value, bounds)


def test_blocks_to_settle_agree_with_the_normal_formula():
    values = norm.ppf((np.arange(200) + 0.5) / 200) * 0.1
    wanted = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * (0.1 / 0.02) ** 2
    # The signed-rank interval is wider than the mean's by sqrt(pi / 3).
    assert stats.blocks_to_settle(values, 0.02) == pytest.approx(wanted * math.pi / 3, rel=0.1)


def test_blocks_to_settle_grow_with_spread_claims_and_nearness():
    values = np.random.default_rng(2).normal(0.0, 0.1, 8)
    base = stats.blocks_to_settle(values, 0.05)
    assert base % 2 == 0
    assert stats.blocks_to_settle(values, 0.025) > 3 * base
    assert stats.blocks_to_settle(2 * values, 0.05) > 3 * base
    assert stats.blocks_to_settle(values, 0.05, claims=20) > base
    assert stats.blocks_to_settle(values, 0.05, power=0.95) > base
    assert stats.blocks_to_settle(values, 100.0, claims=6) == stats.least_blocks(6)
    assert stats.blocks_to_settle(np.zeros(8), 0.05) == stats.least_blocks(1)


def test_blocks_to_settle_are_unknown_with_few_blocks_or_no_margin():
    assert stats.blocks_to_settle([0.1, 0.2, 0.3], 0.1) is None
    assert stats.blocks_to_settle(np.linspace(0, 1, 8), 0.0) is None
    assert stats.blocks_to_settle([0.1, 0.2, 0.3, 0.4], 0.1, claims=6) is not None


def test_blocks_to_settle_refuse_what_is_no_margin():
    for margin, values in ((math.nan, [0.1] * 8), (-1.0, [0.1] * 8), (0.1, []), (0.1, [math.nan])):
        with pytest.raises(BenchbookError):
            stats.blocks_to_settle(values, margin)
    with pytest.raises(BenchbookError):
        stats.blocks_to_settle([0.1] * 8, 0.1, power=1.0)


def test_a_run_of_the_estimated_length_usually_settles():
    rng = np.random.default_rng(12)
    low, high = -0.04, 0.04
    settled = []
    for _ in range(300):
        first = stats.signed_rank_interval(values := rng.normal(0.0, 0.05, 8))
        if stats.decide(first.low, first.high, low, high) != "inconclusive":
            continue
        margin = stats.settling_margin(first.estimate, [low, high])
        blocks = min(stats.blocks_to_settle(values, margin), 400)
        again = stats.signed_rank_interval(rng.normal(0.0, 0.05, blocks))
        settled.append(stats.decide(again.low, again.high, low, high) != "inconclusive")
    assert np.mean(settled) >= 0.8

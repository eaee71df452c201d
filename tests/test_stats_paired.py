"""Pairing within blocks, on hand-made tables."""

import math

import numpy as np
import pandas as pd
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError

PAIRS = pd.DataFrame(
    [("b/a", "b", "a"), ("c/a", "c", "a")], columns=["comparison", "numerator", "denominator"]
)


def table(rows, columns=("block", "point", "value")):
    return pd.DataFrame(rows, columns=list(columns))


SUMMARIES = table([(0, "a", 10.0), (0, "b", 20.0), (1, "b", 60.0), (1, "a", 20.0), (2, "a", 5.0)])


def log_ratios(values, comparison="b/a"):
    return pd.DataFrame(
        {"comparison": comparison, "block": np.arange(len(values)), "log_ratio": values}
    )


def test_log_ratios_by_hand():
    found = stats.paired_log_ratios(SUMMARIES, PAIRS)
    assert list(found.columns) == ["comparison", "block", "log_ratio"]
    assert found["comparison"].tolist() == ["b/a", "b/a"]
    assert found["block"].tolist() == [0, 1]
    assert np.exp(found["log_ratio"]).tolist() == pytest.approx([2.0, 3.0])


def test_blocks_that_miss_a_side_are_counted():
    found = stats.pair_counts(SUMMARIES, PAIRS)
    assert found.to_dict("list") == {
        "comparison": ["b/a", "c/a"],
        "blocks": [2, 0],
        "left_out": [1, 3],
    }


def test_row_order_does_not_matter():
    again = stats.paired_log_ratios(SUMMARIES.sample(frac=1, random_state=1), PAIRS)
    pd.testing.assert_frame_equal(again, stats.paired_log_ratios(SUMMARIES, PAIRS))


def test_a_common_factor_of_a_block_cancels():
    slow = SUMMARIES.assign(value=SUMMARIES["value"] * SUMMARIES["block"].map({0: 1, 1: 1.8, 2: 7}))
    first, second = (stats.paired_log_ratios(t, PAIRS)["log_ratio"] for t in (SUMMARIES, slow))
    assert first.tolist() == pytest.approx(second.tolist())


def test_the_state_of_a_pair_is_that_of_both_sides():
    states = SUMMARIES.assign(state=["1", "1", "2", "1", "1"])
    assert stats.paired_log_ratios(states, PAIRS)["state"].tolist() == ["1", "mixed"]


def test_nothing_measured_gives_empty_tables():
    for nothing in (pd.DataFrame(), SUMMARIES.iloc[:0]):
        empty = stats.paired_log_ratios(nothing, PAIRS)
        assert empty.empty
        assert stats.pair_counts(nothing, PAIRS)["blocks"].tolist() == [0, 0]
        assert stats.ratio_intervals(empty, claims=2).empty
    assert stats.paired_log_ratios(SUMMARIES, pd.DataFrame()).empty


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_a_value_without_logarithm_is_refused(bad):
    with pytest.raises(BenchbookError):
        stats.paired_log_ratios(table([(0, "a", bad), (0, "b", 1.0)]), PAIRS)


def test_wrong_tables_are_refused():
    with pytest.raises(BenchbookError, match="value"):
        stats.paired_log_ratios(SUMMARIES[["block", "point"]], PAIRS)
    with pytest.raises(BenchbookError, match="numerator"):
        stats.paired_log_ratios(SUMMARIES, PAIRS[["comparison"]])
    with pytest.raises(BenchbookError, match="two summaries"):
        stats.paired_log_ratios(pd.concat([SUMMARIES, SUMMARIES]), PAIRS)
    with pytest.raises(BenchbookError, match="one name"):
        stats.paired_log_ratios(SUMMARIES, pd.concat([PAIRS, PAIRS]))
    with pytest.raises(BenchbookError, match="itself"):
        stats.paired_log_ratios(SUMMARIES, PAIRS.assign(numerator="a"))
    with pytest.raises(BenchbookError, match="log_ratio"):
        stats.ratio_intervals(log_ratios([0.1])[["comparison", "block"]], 1)
    with pytest.raises(BenchbookError, match="two log ratios"):
        stats.ratio_intervals(pd.concat([log_ratios([0.1])] * 2), 1)
    with pytest.raises(BenchbookError, match="NaN"):
        stats.ratio_intervals(log_ratios([0.1, math.nan]), 1)
    with pytest.raises(BenchbookError, match="state"):
        stats.ratio_intervals_by_state(log_ratios([0.1]), 1)


def test_ratio_intervals_are_signed_rank_intervals_of_logs():
    values = np.random.default_rng(1).normal(0.5, 0.1, 12)
    row = stats.ratio_intervals(log_ratios(values), claims=6).iloc[0]
    both = stats.signed_rank_interval(values, 1 - 0.05 / 6)
    point = stats.signed_rank_interval(values, 0.95)
    assert row["blocks"] == 12
    assert row["ratio"] == pytest.approx(math.exp(both.estimate))
    assert [row["low"], row["high"]] == pytest.approx(np.exp([both.low, both.high]).tolist())
    assert [row["low95"], row["high95"]] == pytest.approx(np.exp([point.low, point.high]).tolist())
    assert row["half_width"] == pytest.approx((both.high - both.low) / 2)
    assert row["attained"] == both.attained
    assert row["low"] < row["low95"] < row["high95"] < row["high"]


def test_one_block_has_a_ratio_and_no_bounds():
    row = stats.ratio_intervals(log_ratios([math.log(2)]), claims=1).iloc[0]
    assert row["ratio"] == pytest.approx(2.0)
    assert (row["low"], row["high"], row["half_width"]) == (0.0, math.inf, math.inf)


def test_eight_blocks_hold_six_claims_and_not_seven():
    values = log_ratios(np.linspace(0.1, 0.2, 8))
    assert math.isfinite(stats.ratio_intervals(values, claims=6)["half_width"].iloc[0])
    seven = stats.ratio_intervals(values, claims=7).iloc[0]
    assert seven["half_width"] == math.inf
    assert math.isfinite(seven["high95"])


def test_a_comparison_without_blocks_keeps_its_row():
    found = stats.ratio_intervals(log_ratios([0.1] * 8), 2, comparisons=["c/a", "b/a"])
    assert found["comparison"].tolist() == ["c/a", "b/a"]
    assert found["blocks"].tolist() == [0, 8]
    assert math.isnan(found["ratio"].iloc[0])
    assert (found["low"].iloc[0], found["high"].iloc[0]) == (0.0, math.inf)


def test_states_stand_beside_all_data():
    fast, slow = log_ratios([0.0] * 8), log_ratios([0.5] * 8)
    slow["block"] += 8
    both = pd.concat([fast.assign(state="1"), slow.assign(state="2")], ignore_index=True)
    found = stats.ratio_intervals_by_state(both, claims=1)
    assert found["state"].tolist() == ["all", "1", "2"]
    assert found["blocks"].tolist() == [16, 8, 8]
    assert np.log(found["ratio"]).tolist() == pytest.approx([0.25, 0.0, 0.5])
    pd.testing.assert_frame_equal(
        found.drop(columns="state").iloc[[0]], stats.ratio_intervals(both, claims=1)
    )


def test_the_value_of_a_point_in_two_groups_is_near_one_of_them():
    """It was 57 where the runs had shown 39 to 42 and 75 to 77: an estimate in the gap."""
    values = [39.0, 40.0, 41.0, 42.0, 75.0, 75.9, 76.0, 76.5, 77.0]
    interval = stats.median_interval(values)
    assert (interval.estimate, interval.low, interval.high) == (75.0, 40.0, 76.5)

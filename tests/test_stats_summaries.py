"""Summaries of invocations, on hand-made samples."""

import math

import numpy as np
import pandas as pd
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError


def samples(times, warm_ups=0, block=0, invocation=0, point="a", declared=4096):
    n = len(times)
    return pd.DataFrame(
        {
            "block": block,
            "invocation": invocation,
            "point": point,
            "sample": np.arange(n),
            "warm_up": np.arange(n) < warm_ups,
            "time_ns": times,
            "bytes_declared": declared,
        }
    )


def test_known_answers():
    times = [9000, 10, 30, 20, 50, 40]
    row = stats.invocation_summaries(samples(times, warm_ups=1), paper_samples=2).iloc[0]
    assert row["samples"] == 5
    assert row["median_ns"] == 30
    assert row["mean_ns"] == 30
    assert row["best_ns"] == 10
    assert [row["p10_ns"], row["p90_ns"], row["p99_ns"]] == pytest.approx(
        np.quantile(times[1:], [0.1, 0.9, 0.99]).tolist()
    )
    assert row["paper_samples"] == 2
    assert row["paper_mean_ns"] == 20
    assert row["paper_best_ns"] == 10
    assert row["bytes_declared"] == 4096


def test_the_papers_samples_are_the_first_ones_whatever_the_row_order():
    shuffled = samples([9000, 10, 30, 20, 50, 40], 1).sample(frac=1, random_state=3)
    row = stats.invocation_summaries(shuffled, paper_samples=3).iloc[0]
    assert row["paper_mean_ns"] == 20
    assert row["paper_best_ns"] == 10


def test_fewer_samples_than_the_papers_give_no_figure():
    row = stats.invocation_summaries(samples([10, 20, 30]), paper_samples=4).iloc[0]
    assert row["paper_samples"] == 3
    assert math.isnan(row["paper_mean_ns"])
    assert math.isnan(row["paper_best_ns"])
    row = stats.invocation_summaries(samples([10, 20, 30])).iloc[0]
    assert row["paper_samples"] == 0
    assert math.isnan(row["paper_mean_ns"])


def test_one_row_per_invocation_and_point():
    both = pd.concat(
        [
            samples([1, 2, 3], point="a"),
            samples([4, 5, 6], point="b"),
            samples([7, 8, 9], block=1, invocation=5),
        ]
    )
    found = stats.invocation_summaries(both, paper_samples=1)
    assert found[["block", "invocation", "point"]].to_records(index=False).tolist() == [
        (0, 0, "a"),
        (0, 0, "b"),
        (1, 5, "a"),
    ]
    assert found["median_ns"].tolist() == [2, 5, 8]
    assert found["paper_mean_ns"].tolist() == [1, 4, 7]


def test_one_sample_is_all_its_summaries():
    row = stats.invocation_summaries(samples([7]), paper_samples=1).iloc[0]
    names = ["median_ns", "mean_ns", "best_ns", "p10_ns", "p90_ns", "paper_mean_ns"]
    assert (row[names] == 7).all()


def test_warm_ups_alone_and_nothing_give_no_rows():
    assert stats.invocation_summaries(samples([1, 2], warm_ups=2), paper_samples=1).empty
    empty = stats.invocation_summaries(samples([]))
    assert empty.empty
    assert "median_ns" in empty.columns


def test_long_times_are_not_rounded():
    row = stats.invocation_summaries(samples([3_600_000_000_001, 3_600_000_000_003])).iloc[0]
    assert row["mean_ns"] == 3_600_000_000_002


def test_wrong_tables_are_refused():
    with pytest.raises(BenchbookError, match="warm_up"):
        stats.invocation_summaries(samples([1]).drop(columns="warm_up"))
    with pytest.raises(BenchbookError, match="NaN"):
        stats.invocation_summaries(samples([1.0, math.nan]))
    with pytest.raises(BenchbookError, match="negative duration"):
        stats.invocation_summaries(samples([1, -1]))
    with pytest.raises(BenchbookError, match="twice"):
        stats.invocation_summaries(pd.concat([samples([1]), samples([1])]))
    with pytest.raises(BenchbookError, match="different bytes"):
        stats.invocation_summaries(samples([1, 2], declared=[4096, 8192]))
    with pytest.raises(BenchbookError, match="at least 1"):
        stats.invocation_summaries(samples([1]), paper_samples=0)

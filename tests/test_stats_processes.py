"""Several processes as one: rates are added, times are not."""

import math

import numpy as np
import pandas as pd
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError


def samples(times, block=0):
    """Times of each process (processes, samples); 1000 bytes a call, the first ones warm-ups."""
    return pd.DataFrame(
        [
            {
                "block": block,
                "invocation": 0,
                "point": "a",
                "process": process,
                "sample": number,
                "warm_up": number == 0,
                "time_ns": time,
                "bytes_declared": 1000,
            }
            for process, row in enumerate(times)
            for number, time in enumerate(row)
        ]
    )


def rate(row, name):
    return row["bytes_declared"] / row[name]  # bytes per ns are GB/s


def test_one_and_three_gb_per_s_are_four():
    assert 2000 / stats.add_rates([1000, 1000 / 3]) == pytest.approx(4)
    table = samples([[9, 1000, 1000], [9, 1000 / 3, 1000 / 3]])
    (row,) = stats.invocation_summaries(table, paper_samples=2).to_dict("records")
    assert row["bytes_declared"] == 2000
    for name in ("median_ns", "mean_ns", "best_ns", "p10_ns", "p90_ns", "paper_mean_ns"):
        assert rate(row, name) == pytest.approx(4), name
    assert (row["samples"], row["paper_samples"]) == (4, 2)


def test_each_statistic_is_made_within_its_process():
    table = samples([[9, 100, 300, 200], [9, 400, 400, 700]]).sample(frac=1, random_state=1)
    row = stats.invocation_summaries(table, paper_samples=1).iloc[0]
    assert rate(row, "median_ns") == pytest.approx(1000 / 200 + 1000 / 400)
    assert rate(row, "mean_ns") == pytest.approx(1000 / 200 + 1000 / 500)
    assert rate(row, "best_ns") == pytest.approx(1000 / 100 + 1000 / 400)
    assert rate(row, "paper_best_ns") == pytest.approx(1000 / 100 + 1000 / 400)


def test_a_statistic_that_one_process_lacks_is_missing():
    row = stats.invocation_summaries(samples([[9, 100, 100], [9, 100]]), paper_samples=2).iloc[0]
    assert row["paper_samples"] == 1
    assert math.isnan(row["paper_mean_ns"])
    assert rate(row, "median_ns") == pytest.approx(20)


def test_one_process_is_what_it_was_to_the_digit():
    table = samples([[9, 3, 7, 13]])
    alone = stats.invocation_summaries(table.drop(columns="process"), paper_samples=2)
    pd.testing.assert_frame_equal(stats.invocation_summaries(table, paper_samples=2), alone)
    assert stats.add_rates([13]) == 13


def test_blocks_stay_apart():
    table = pd.concat([samples([[9, 10], [9, 10]], block) for block in (0, 1)])
    found = stats.invocation_summaries(table)
    assert found["block"].tolist() == [0, 1]
    assert found["median_ns"].tolist() == pytest.approx([10, 10])


def test_median_of_processes_agrees_with_the_summary():
    times = [[9, 100, 300, 200], [9, 400, 400, 700]]
    row = stats.invocation_summaries(samples(times)).iloc[0]
    found = stats.median_of_processes(np.ravel(times), np.repeat([0, 1], 4), warm_up=1)
    assert found == row["median_ns"]


def test_the_same_sample_twice_in_a_process_is_refused():
    twice = pd.concat([samples([[9, 1], [9, 2]]), samples([[9, 1]])])
    with pytest.raises(BenchbookError, match="twice"):
        stats.invocation_summaries(twice)

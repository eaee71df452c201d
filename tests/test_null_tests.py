"""Ratios of two points over the blocks of a run."""

from __future__ import annotations

import pandas as pd
import pytest

from benchbook import stats
from benchbook.analyse.null_tests import ratio_interval
from benchbook.core.errors import BenchbookError

BLOCKS = range(8)


def summaries(**times_ns: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {"point": name, "block": block, "median_ns": time_ns, "bytes_declared": 100}
        for name, times in times_ns.items()
        for block, time_ns in zip(BLOCKS, times, strict=False)
    )


def interval(table: pd.DataFrame, quantity: str = "time") -> dict[str, float] | None:
    return ratio_interval(table, "a", "b", quantity, "median_ns", 3)


def test_it_is_the_row_that_the_tables_of_all_comparisons_have() -> None:
    table = summaries(a=[3, 4, 5, 6, 7, 8, 9, 10], b=[2, 3, 2, 3, 2, 3, 2])  # b lacks a block
    pairs = pd.DataFrame([{"comparison": "c", "numerator": "a", "denominator": "b"}])
    logs = stats.paired_log_ratios(table.assign(value=table["median_ns"]), pairs)
    row = stats.ratio_intervals(logs, claims=3).iloc[0]
    found = interval(table)
    assert found == {name: row[name] for name in found}
    assert found["blocks"] == 7
    of_rates = interval(table, "rate")
    assert of_rates["ratio"] == pytest.approx(1 / found["ratio"])


def test_none_where_nothing_can_be_compared() -> None:
    assert interval(summaries(a=[1.0] * 8)) is None
    assert interval(summaries(a=[1.0] * 8, b=[0.0] * 8)) is None


def test_two_summaries_of_a_point_in_a_block_are_refused() -> None:
    table = summaries(a=[1.0] * 8, b=[2.0] * 8)
    with pytest.raises(BenchbookError, match="two summaries of one point"):
        interval(pd.concat([table, table]))

"""heavy-tail, bimodal, undecided-ratio: what minimum, median, mean and maximum of a row say of each
other, in tools that print no deviation, and of two rows that are compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

WITHOUT_DEVIATION = ("microbenchmark", "divan", "benchmarktools")
TAIL, NOTICED = 5.0, 1.05  # longest ÷ median; mean ÷ median
FEW_RUNS = 10  # of which one alone may make the mean
BELOW, FAR_BELOW = 0.8, 0.1  # mean ÷ median, minimum ÷ median of two kinds of runs
COMPARED = ("microbenchmark", "pytest-benchmark", "divan", "benchmarktools")
CLEAR = 0.005  # by which two rows differ, so that their order is one
PAIR = 2
_ORDER = ("mean", "median", "min")
_NAMES = {"mean": "mean", "median": "median", "min": "minimum"}
LEAST_NS = 1.0  # of a median: below, nothing was timed
_Row = dict[str, Result]


@rule
def rows_without_deviation(report: Report) -> Iterator[Finding]:
    """Means that a few long runs make, and those below the median, of runs of two kinds."""
    if report.tool not in WITHOUT_DEVIATION:
        return
    rows = _rows(report)
    tails = [row for row in rows if _has_tail(row)]
    if tails:
        row = max(tails, key=lambda each: each["max"].base_value / each["median"].base_value)
        words: dict[str, Any] = {**row, "few": None}
        words["times"] = row["max"].base_value / row["median"].base_value
        runs = row["mean"].of.get("repetitions")
        if is_number(runs) and runs <= FEW_RUNS:
            words["few"] = runs
        yield finding("mean-of-few-long", words, about=[row["median"], row["mean"], row["max"]])
    lower = [row for row in rows if _has_two_kinds(row)]
    if lower:
        row = lower[0]
        words = {**row}
        yield finding("kind-far-below", words, about=[row["min"], row["median"], row["mean"]])


def _has_tail(row: _Row) -> bool:
    if not {"mean", "median", "max"} <= row.keys() or not row["median"].is_positive:
        return False
    median, mean, most = (row[name].base_value for name in ("median", "mean", "max"))
    return median >= LEAST_NS and most >= TAIL * median and mean >= NOTICED * median


def _has_two_kinds(row: _Row) -> bool:
    if not {"mean", "median", "min"} <= row.keys() or not row["median"].is_positive:
        return False
    median, mean, least = (row[name].base_value for name in ("median", "mean", "min"))
    return mean <= BELOW * median and least <= FAR_BELOW * median


@rule
def statistics_disagree(report: Report) -> Iterator[Finding]:
    """The only two rows of a table whose order is another by the mean, the median or the minimum.

    Decided by the printed figures: what a few runs make is not what the code needs.
    """
    if report.tool not in COMPARED:
        return
    rows = _rows(report)
    if len(rows) != PAIR or any(
        row["mean"].of.get("repetitions") == 1 for row in rows if "mean" in row
    ):
        return  # one round has no order
    orders: dict[str, float] = {}
    for statistic in ("median", "min", "mean"):
        own = [row.get(statistic) for row in rows]
        if own[0] and own[1] and own[0].is_positive and own[1].is_positive:
            apart = own[0].base_value / own[1].base_value - 1
            if abs(apart) >= CLEAR:
                orders[statistic] = apart
    for first, second in combinations(sorted(orders, key=_ORDER.index), 2):
        if orders[first] * orders[second] < 0:
            a, b = (row[first] for row in rows)
            c, d = (row[second] for row in rows)
            words = {"a": a, "b": b, "c": c, "d": d, "by": _NAMES[first], "other": _NAMES[second]}
            words |= {"faster": min(a, b, key=_time).name, "slower": min(c, d, key=_time).name}
            yield finding("statistics-disagree", words, about=[a, b, c, d])
            return


def _time(result: Result) -> float:
    return result.base_value


def _rows(report: Report) -> list[_Row]:
    times = [
        own for own in report.being("min", "max", "mean", "median") if own.is_time and own.is_number
    ]
    rows = grouped(times, lambda own: own.name).values()
    return [{own.statistic: own for own in reversed(row)} for row in rows]

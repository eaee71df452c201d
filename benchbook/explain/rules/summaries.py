"""few-repetitions, heavy-tail: what the statistics of one set of runs say of their mean, in tools
that print a row of them for each benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("pytest-benchmark", "timeit")  # those that have no rules of their own for it
FEW_RUNS = 10
WIDE = 0.2  # deviation ÷ mean of few
TAIL, TAIL_LONGEST = 0.5, 5.0  # deviation ÷ mean; longest ÷ median
NOTICED = 1.03  # mean ÷ median
_Set = dict[str, Result]


class _Row(NamedTuple):
    """The statistics of a benchmark, and of how many runs they are."""

    by: _Set
    runs: float


@rule
def statistics_of_rows(report: Report) -> Iterator[Finding | str]:
    """Rows of one run, of few that lie far apart, and of many whose mean a few long ones make."""
    if report.tool not in TOOLS:
        return
    rows = _rows(report)
    one = [row for row in rows if row.runs == 1 and "mean" in row.by]
    if one:
        words: dict[str, Any] = {"first": one[0].by["mean"], "left": len(one) - 1 or None}
        words |= {"iterations": _iterations(one[0])}
        yield finding("one-round", words).explanation
    few = [row for row in rows if 1 < row.runs <= FEW_RUNS and _spread(row) >= WIDE]
    if few:
        row = max(few, key=_spread)
        words = _words(row) | {"runs": int(row.runs), "left": len(few) - 1 or None}
        yield finding("few-and-wide", words)
    tails = [row for row in rows if row.runs > FEW_RUNS and _has_tail(row)]
    if tails:
        row = max(tails, key=_spread)
        words = _words(row)
        words["times"] = row.by["max"].value / row.by["median"].value
        yield finding("few-long-rounds", words)


_COMPARED_RUN = late(r"(?P<name>.+) \((?:NOW|\d{4}_[^()]*)\)(?P<what> \w+)?")
SMALL = 0.1  # between two runs of a test


@rule
def compared_without_spread(report: Report) -> Iterator[str]:
    """A note on two runs of a test that differ by less than a tenth, in a table without spreads."""
    if report.tool != "pytest-benchmark" or report.being("stddev", "max"):
        return
    runs: dict[str, list[Result]] = {}
    for own in report.results:
        if (found := _COMPARED_RUN.fullmatch(own.name)) and own.is_positive:
            runs.setdefault(f"{found['name']}{own.statistic}{own.unit}", []).append(own)
    pairs = [several for several in runs.values() if len(several) == 2]
    apart = [(max(a.value, b.value) / min(a.value, b.value) - 1, a, b) for a, b in pairs]
    near = [entry for entry in apart if 0 < entry[0] <= SMALL]
    if near:
        share, first, second = near[0]
        words: dict[str, Any] = {"first": first, "second": second, "share": share}
        yield finding("compared-without-spread", words).explanation


LITTLE = 0.02  # of the time of all tests
LEAST_TOOK_S = 10.0


@rule
def little_of_tests(report: Report) -> Iterator[str]:
    """A note on rounds that make up a small part of the time that the tests took."""
    took = report.facts.get("tests_took_s")
    if not is_number(took) or took < LEAST_TOOK_S:
        return
    means = [mean for mean in report.being("mean") if mean.is_time and mean.is_positive]
    rounds = [_column(mean, "repetitions") for mean in means]
    iterations = [_column(mean, "iterations") for mean in means]
    if not means or 0 in rounds or 0 in iterations:
        return
    parts = zip(means, rounds, iterations, strict=True)
    timed = sum(mean.base_value / 1e9 * count * each for mean, count, each in parts)
    if timed <= LITTLE * took:
        words = {"rounds": sum(rounds), "timed": timed, "took": took, "part": timed / took}
        words["line"] = report.facts["tests_line"]
        yield finding("little-of-the-tests", words, about=means).explanation


def _column(result: Result, name: str) -> float:
    value = result.of.get(name)
    return float(value) if is_number(value) else 0.0


def _rows(report: Report) -> list[_Row]:
    sets: dict[str, _Set] = {}
    for result in report.being("min", "max", "mean", "median", "stddev"):
        if result.is_number:
            sets.setdefault(result.name, {})[result.statistic] = result
    rows = []
    for own in sets.values():
        runs = next(iter(own.values())).of.get("repetitions")
        rows.append(_Row(own, float(runs) if is_number(runs) else 0.0))
    return rows


def _iterations(row: _Row) -> int | None:
    count = row.by["mean"].of.get("iterations")
    return int(count) if is_number(count) else None


def _spread(row: _Row) -> float:
    """Deviation ÷ mean; 0 where one of the two is missing."""
    mean, deviation = row.by.get("mean"), row.by.get("stddev")
    if mean is None or deviation is None or not mean.is_positive:
        return 0.0
    return deviation.base_value / mean.base_value


def _has_tail(row: _Row) -> bool:
    if not {"mean", "median", "max", "stddev"} <= row.by.keys() or _spread(row) < TAIL:
        return False
    mean, median, most = (row.by[name].value for name in ("mean", "median", "max"))
    return most >= TAIL_LONGEST * median > 0 and mean >= NOTICED * median


def _words(row: _Row) -> dict[str, Any]:
    words: dict[str, Any] = {"least": None, "most": None, "median": None}
    words |= {"least": row.by.get("min"), "most": row.by.get("max")}
    return words | {
        "mean": row.by["mean"],
        "deviation": row.by["stddev"],
        "median": row.by.get("median"),
        "share": _spread(row),
    }

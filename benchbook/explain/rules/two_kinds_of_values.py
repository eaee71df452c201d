"""bimodal: values of two kinds, with a mean that is of neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from benchbook.explain.context.same_runs import of_same
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.latencies import Latencies, latencies, repetitions
from benchbook.explain.rules.common.samples import series
from benchbook.explain.rules.common.transfer_parts import intervals_of, owner_of
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding

LEAST_APART = 4.0  # slowest of the fast ÷ fastest of the slow
LEAST_INTERVALS, LEAST_INTERVALS_SHARE = 2, 0.2  # of either group
LEAST_BYTES = 4 * 2**20  # of the fast ones: many blocks
PIECE = 0.5  # of the usual length: what is left at the end of a test


@rule
def bimodal(report: Report) -> Iterator[Finding]:
    """The rate of a transfer that is the mean of intervals at full speed and of nearly none.

    Decided by the intervals of the whole transfer that the log has: two groups, far apart, each of
    several. Of streams beside each other only the sum is looked at, for one may be fast while
    another is slow; and not what is so slow that a block more or less makes the difference.
    """
    rates = report.called("throughput")
    totals = {owner_of(rate): rate for rate in rates if rate.statistic == "total"}
    intervals = intervals_of(report, "throughput") if totals else {}
    for owner, total in totals.items():
        if report.facts.get("streams") == 1 or total.of.get("stream") == SUM:
            in_order = sorted(intervals.get(owner, []), key=lambda interval: interval.line)
            yield from _two_speeds(total, in_order)


def _two_speeds(total: Result, intervals: list[Result]) -> Iterator[Finding]:
    longest = max(map(_lasted, intervals), default=0.0)
    # The first one is of a window that still grows.
    whole = [interval for interval in intervals[1:] if _lasted(interval) > PIECE * longest]
    ordered = sorted(
        (rate for rate in whole if rate.is_number), key=lambda result: result.base_value
    )
    least = max(LEAST_INTERVALS, LEAST_INTERVALS_SHARE * len(ordered))
    gaps = [
        (above.base_value / max(below.base_value, 1.0), index)
        for index, (below, above) in enumerate(pairwise(ordered), 1)
        if least <= index <= len(ordered) - least
    ]
    apart, index = max(gaps, default=(0.0, 0))
    if apart >= LEAST_APART and ordered[index].of.get("bytes_moved", 0) >= LEAST_BYTES:
        slow, fast = ordered[index - 1], ordered[index]
        words: dict[str, Any] = {"slow": slow, "fast": fast, "total": total}
        words |= {"count": index, "all": len(ordered)}
        is_between = slow.base_value < total.base_value < fast.base_value
        words["between"] = total if is_between else None
        yield finding("two-speeds", words)


def _lasted(result: Result) -> float:
    return float(result.of.get("elapsed_s", 0.0))


NAMES = ("time", "latency", "round trip")
DEVIATIONS = ("stddev", "sd")
MOST_BETWEEN = 0.2  # of all, in the middle half between the ends; of evenly spread ones half are
LEAST_AT_END = 0.22  # of all, at either end: more than two of ten, else a few are merely far away
WIDE = 0.5  # from end to end ÷ mean
FEW, USUAL = 8, 10  # values that have no shape; the least number of runs where none is printed
IN_MIDDLE = 3 / 16  # of the square of the width: what a value of the middle half takes at least
ROUNDED = 0.02  # of all: what rounding of the four may make it less than none


@rule
def bimodal_ends(report: Report) -> Iterator[Finding]:
    """Runs or exchanges of two kinds, told by their ends, mean and deviation alone.

    Between two ends a and b with a mean m no deviation is above the root of (m - a)(b - m), which
    is reached only where all values lie at the ends (Bhatia and Davis, 2000). What is missing to
    that bounds how many lie in the middle half: each of them would take 3/16 of (b - a)^2 from it.
    """
    for name in NAMES:
        own = [result for result in report.called(name) if result.is_number]
        by = {result.statistic: result for result in own}
        if len(by) < len(own) or not {"mean", "min", "max"} <= by.keys():
            continue
        deviation = next((by[name] for name in DEVIATIONS if name in by), None)
        if deviation is not None:
            yield from _at_ends(report, by["min"], by["mean"], by["max"], deviation)


def _at_ends(
    report: Report, least: Result, mean: Result, most: Result, deviation: Result
) -> Iterator[Finding]:
    low, middle, high, spread = (each.base_value for each in (least, mean, most, deviation))
    count = _count(report, mean)
    if count < FEW or not low < middle < high or high - low < WIDE * middle:
        return
    width, share = high - low, (middle - low) / (high - low)
    # The printed deviation of samples is rather too much.
    variance = (spread / width) ** 2 * (count - 1) / count
    between = (share * (1 - share) - variance) / IN_MIDDLE
    if -ROUNDED <= between <= MOST_BETWEEN and LEAST_AT_END <= share <= 1 - LEAST_AT_END:
        size = in_base(1.0, mean.unit)[0]
        words: dict[str, Any] = {"least": least, "mean": mean, "most": most, "deviation": deviation}
        words |= {"low": (low + width / 4) / size, "high": (high - width / 4) / size}
        yield finding("at-ends", words, between=100 * max(between, 0.01), share=100 * share)


def _count(report: Report, mean: Result) -> float:
    """Of how many values they are: 0 where exchanges may be few."""
    got = [result.value for result in report.called("packets received")]
    count = report.column(mean, "repetitions") or (got[0] if len(got) == 1 else None)
    return count if is_number(count) else USUAL if mean.name == "time" else 0


QUANTILES = ("min", "p25", "median", "p75", "p90", "p99")
APART_LATENCIES = 3.0  # from one quantile to the next
ALIKE = 1.4  # the same, within either kind
LEAST_EXCHANGES = 50


@rule
def bimodal_latencies(report: Report) -> Iterator[Finding]:
    """Latencies of two kinds, each nearly constant, and a mean between both.

    Decided by quantiles: within what is below the gap they hardly differ, nor within what is above.
    """
    for own in latencies(report) if report.being("median") else ():
        if repetitions(report, own) < LEAST_EXCHANGES or not (gap := _gap(own)):
            continue
        low, high = (own.by_statistic[name] for name in gap)
        low_ns, high_ns, mean_ns = (own.ns(name) or 0.0 for name in (*gap, "mean"))
        mean = own.by_statistic.get("mean")
        between = mean if low_ns * ALIKE < mean_ns < high_ns / ALIKE else None
        words = {"low": low, "high": high, "mean": mean, "between": between}
        yield finding("kinds-of-latencies", words, times=high_ns / (low_ns or 1.0))


def _gap(own: Latencies) -> tuple[str, str] | None:
    """The quantiles on either side of it."""
    times = [(name, ns) for name in QUANTILES if (ns := own.ns(name)) and ns > 0]
    if any(after < before for (_, before), (_, after) in pairwise(times)):
        return None  # one of them is wrong, which is told
    for (_, first), (low, below), (high, above), (_, last) in zip(
        times, times[1:], times[2:], times[3:], strict=False
    ):
        if above >= APART_LATENCIES * below and below <= ALIKE * first and last <= ALIKE * above:
            return low, high
    return None


LEAST, MOST = 6, 2000  # values; more have a shape, which detectors read
LEAST_OF_KIND, LEAST_SHARE = 3, 0.2
APART = 1.25  # slower ÷ faster, across the gap
WIDER, WIDER_OF_FEW = 2.0, 5.0  # gap ÷ width of either kind
OF_DIGIT = 4.0  # gap ÷ the last digit
CHANGES, CHANGES_OF_RUNS = 2, 3  # of kind, in their order; runs may be of before and after


class _Kinds(NamedTuple):
    fast: list[Result]
    slow: list[Result]
    changes: int


@rule
def two_kinds(reports: list[Report]) -> Iterator[Finding]:
    """Repetitions, or whole runs of the same, that fall into two kinds with nothing between.

    Decided by a gap that is wider than either kind, far beyond what was rounded, with several of
    each on both sides, which change places: what comes first and never again is another matter.
    Detectors of shape want more samples, and leave alone what comes in stretches.
    """
    for figure in series(reports):
        kinds = _kinds(figure.samples)
        if kinds and kinds.changes >= CHANGES and not _are_first(kinds.slow, figure.samples):
            yield _of_kinds(kinds, "repetitions", figure.mean)
    for own in of_same(reports):
        kinds = _kinds([result for _, result in own])
        # Who takes two of them in turn compares two.
        if kinds and CHANGES_OF_RUNS <= kinds.changes < len(own) - 1:
            yield _of_kinds(kinds, "runs", None)
            return  # what else they have is of the same runs


def _kinds(results: Sequence[Result]) -> _Kinds | None:
    """The two kinds of these values, all of one unit; None where they are not two."""
    if not LEAST <= len(results) <= MOST or not all(result.is_positive for result in results):
        return None
    ordered = sorted(results, key=lambda result: result.value)
    least = max(LEAST_OF_KIND, round(LEAST_SHARE * len(ordered)))
    if ordered[-least].value < APART * ordered[least - 1].value:
        return None  # as nearly all are
    gap, index = max(
        (above.value - below.value, at)
        for at, (below, above) in enumerate(pairwise(ordered), 1)
        if least <= at <= len(ordered) - least
    )
    low, high = ordered[:index], ordered[index:]
    width = max(part[-1].value - part[0].value for part in (low, high))
    digit = 2 * min(result.half for result in results)
    wider = WIDER if len(results) >= FEW else WIDER_OF_FEW
    if high[0].value < APART * low[-1].value or gap < max(wider * width, OF_DIGIT * digit):
        return None
    above = [result.value >= high[0].value for result in results]
    changes = sum(before != after for before, after in pairwise(above))
    is_rate = bytes_per_s(1.0, results[0].unit) is not None
    return _Kinds(high, low, changes) if is_rate else _Kinds(low, high, changes)


def _are_first(slow: list[Result], samples: Sequence[Result]) -> bool:
    """Whether they are the first of their processes, which is a warm-up and told as such."""
    first = {sample.of.get("process"): sample for sample in reversed(samples)}
    return "process" in samples[0].of and all(
        sample is first[sample.of["process"]] for sample in slow
    )


def _of_kinds(kinds: _Kinds, what: str, mean: Result | None) -> Finding:
    fast, slow, _ = kinds
    several = sorted((*fast, *slow), key=lambda result: result.line)
    words: dict[str, Any] = {"first": several[0], "last": several[-1], "mean": mean}
    words |= {"what": what, "all": len(several), "fast": len(fast), "slow": len(slow)}
    for name, part in (("fast", fast), ("slow", slow)):
        for end in (min, max):
            words[f"{end.__name__}_{name}"] = end(part, key=lambda result: result.value)
    return finding("two-kinds", words)


@rule
def said_modes(report: Report) -> Iterator[Finding]:
    """Times of which the library itself says that they form groups.

    Decided by its warning; the table shows where mean and median lie.
    """
    if line := report.facts.get("said_modes_line"):
        name = str(report.facts["said_modes_of"]).rpartition(".")[2]
        called = {result.statistic: result for result in report.called(f"{name} time")}
        mean, median = called.get("mean"), called.get("median")
        words = {"line": line, "name": name, "how": report.facts["said_modes"]}
        words |= {"value": report.facts["said_modes_value"], "mean": mean}
        words["median"] = median if mean is not None else None
        about = [mean] if mean is not None else [f"line {line}"]
        yield finding("said-modes", words, about=about)

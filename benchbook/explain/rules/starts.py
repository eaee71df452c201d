"""warm-up, first-touch: what comes first takes longer than what comes after, and is in the mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.samples import FAR, STEADY, Series, cold, series, time_s
from benchbook.explain.rules.common.transfer_parts import intervals_of, owner_of
from benchbook.explain.units import in_base
from benchbook.findings import Finding

LEAST_SAMPLES = 3
# The same where many others are nearly equal, so that no chance makes one so slow.
LESS_FACTOR, ALIKE, LEAST_ALIKE = 1.25, 1.03, 5
PERHAPS = 0.6
PAGES_BYTES = 1 << 20  # of a function: fewer are touched within no time


@rule
def first_touch(reports: list[Report]) -> Iterator[Finding]:
    """The first figure over buffers of memory of each run whose first repetition takes far longer.

    A log shows no page faults, so that this is likely and not certain; what else makes a first
    repetition slow (a sleeping clock, cold code) is over within milliseconds. With huge pages a
    first pass takes about a write more than the others: that is told where these are alike.
    """
    looked: set[int] = set()
    for figure in series(reports):
        if moves_bytes(figure) and id(figure.report) not in looked:
            looked.add(id(figure.report))
            yield from _touched(figure)


def moves_bytes(figure: Series) -> bool:
    """Whether its repetitions go over buffers of memory: over arrays, or over some pages of bytes
    that Google Benchmark counts beside the time."""
    of = figure.samples[0].of
    if of.get("array_bytes"):
        return True
    rates = figure.report.called(f"{of.get('benchmark')} bytes_per_second")
    rate = rates[0].rate if rates else None
    return bool(rate and rate * (time_s(figure.samples[-1]) or 0.0) >= PAGES_BYTES)


def _touched(figure: Series) -> Iterator[Finding]:
    begun = [time_s(sample) for sample in figure.samples[:2]]
    if not all(begun) or (begun[0] or 0) < LESS_FACTOR * (begun[1] or 0):
        return  # as nearly all do
    every = figure.times()
    times = [time for time in every if time]
    if len(times) < max(LEAST_SAMPLES, len(every)):
        return
    first, others = times[0], times[1:]
    is_far = first >= FAR * max(others) and max(others) <= STEADY * min(others)
    is_apart = first >= LESS_FACTOR * max(others) and max(others) <= ALIKE * min(others)
    if not is_far and not (is_apart and len(others) >= LEAST_ALIKE):
        return
    sample, mean = figure.samples[0], figure.mean
    biased = sum(times) / len(times) / (sum(others) / len(others))
    words: dict[str, Any] = {"sample": sample, "first_s": first, "longest_s": max(others)}
    words |= {
        "others": len(others),
        "all": len(times),
        "memory": "Memory" if is_far else "Perhaps memory",
    }
    words |= {"mean": mean, "slower": 1 - 1 / biased if mean and figure.is_whole() else None}
    yield finding("touched", words, factor=1 / biased, confidence=None if is_far else PERHAPS)


# first ÷ mean of the others, where the tool names it as far beyond their spread
LEAST_WARNED = 1.25
LEAST_BIAS = 1.02  # mean of all ÷ mean of the others, where only their number is known
LEAST_RUNS = 3
SURE_DIGITS = 5.0  # mean of the others ÷ what rounding leaves open


class _Runs(NamedTuple):
    """The first, the mean of those that are not cold, the mean of all, and how many there are."""

    first_s: float
    usual_s: float
    mean_s: float
    runs: int
    cold: int


@rule
def warm_up(reports: list[Report]) -> Iterator[Finding]:
    """Commands whose first runs took far longer than the others, and the mean has them in.

    Decided by the runs themselves where the log has them, by the first one alone where the tool
    names it. What a repetition inside a program does is told by `first-touch`; the first packet of
    a connection is another matter.
    """
    judged: set[int] = set()
    for figure in series([report for report in reports if _is_of_programs(report)]):
        times = [time for time in figure.times() if time]
        if not len(times) == len(figure.samples) >= LEAST_RUNS or id(figure.report) in judged:
            continue
        if (count := cold(times)) and not moves_bytes(figure):
            judged.add(id(figure.report))
            usual = sum(times[count:]) / len(times[count:])
            own = _Runs(times[0], usual, sum(times) / len(times), len(times), count)
            yield _cold_runs(figure.report, figure.mean, figure.samples[0].line, own)
    for report in reports:
        means = [time for time in report.called("time") if time.statistic == "mean"]
        first = report.facts.get("first_run_s")
        if not is_number(first) or len(means) != 1 or id(report) in judged:
            continue
        (mean,) = means
        longest = report.only("time", "max")
        if longest and longest.base_value > OTHER_LONGER * first * 1e9:
            continue  # another run took longer than the first, so that one was no slow start
        runs, mean_s = mean.of.get("repetitions"), mean.base_value / 1e9
        if is_number(runs) and runs >= LEAST_RUNS:
            usual = (mean_s * runs - first) / (runs - 1)
            # What rounding of the mean leaves open is open as many times as there were runs.
            half_s = mean.base_half / 1e9
            error = half_s * runs / (runs - 1)
            biased = mean_s >= LEAST_BIAS * usual
            if biased and usual > SURE_DIGITS * error and first >= LEAST_WARNED * (usual + error):
                own = _Runs(first, usual, mean_s, int(runs), 1)
                yield _cold_runs(report, mean, mean.line, own)


def _is_of_programs(report: Report) -> bool:
    """Whether its samples are of programs or of functions, no passes over arrays alone."""
    return "command" in report.facts or "benchmark" in report.columns


def _cold_runs(report: Report, mean: Result | None, line: int, own: _Runs) -> Finding:
    where = mean.where if mean else f"line {line}: {report.facts.get('command', 'first run')}"
    kind = "cold-run" if own.cold == 1 else "cold-runs"
    words = own._asdict() | {"line": line, "hyperfine": "" if report.tool == "hyperfine" else None}
    return finding(kind, words, about=[where], factor=own.mean_s / own.usual_s)


OTHER_LONGER = 1.1  # times the first run
LEAST_PROCESSES, LEAST_VALUES = 3, 3


@rule
def cold_processes(report: Report) -> Iterator[Finding]:
    """In every process the first value is far above those after it, and none was left out.

    Decided by the values of each process: what a compiler at run time, a cache or a connection
    needs first is paid once in each of them.
    """
    for (_, statistic, _), samples in report.groups.items():
        if statistic != "sample" or "process" not in report.columns:
            continue
        if "repetition" in samples[0].of:
            yield from _cold_in_each(samples)


def _cold_in_each(samples: Sequence[Result]) -> Iterator[Finding]:
    by_process = groupby(samples, lambda value: value.of.get("process"))
    processes = [list(own) for _, own in by_process]
    counts = [_cold_values(own) for own in processes if len(own) >= LEAST_VALUES]
    if not LEAST_PROCESSES <= len(counts) == len(processes) or not all(counts):
        return
    first = samples[0]
    others = [value for own, count in zip(processes, counts, strict=True) for value in own[count:]]
    mean, usual = (sum(v.value for v in values) / len(values) for values in (samples, others))
    words = {"first": first, "usual": usual, "processes": len(processes)}
    about = [own[0] for own in processes]
    yield finding("cold-processes", words, about=about, factor=mean / usual)


def _cold_values(own: Sequence[Result]) -> int:
    """How many of its first values are far above those after them."""
    positive = all(result.is_positive for result in own)
    return cold([result.value for result in own]) if positive else 0


FAR_SIZE = 3.0  # times what larger ones take
LEAST_OTHERS = 4
ALIKE_SIZES = 2.0  # slowest ÷ fastest of the next larger ones, behind the second
LARGEST_BYTES = 4096  # of those that it is held against


@rule
def cold_sizes(report: Report) -> Iterator[Finding]:
    """The first size of a sweep takes far longer than larger ones that came after it.

    Decided by the sweep: nothing makes a small message slower than larger ones but what came first,
    a connection that was opened or pages that were touched inside the timed loop.
    """
    if report.tool in ("table", "fabtests") and "message_bytes" in report.columns:
        yield from _cold_row(report)
    # A collective may have a bad algorithm for few bytes.
    if report.facts.get("pattern") != "point to point" or "message_bytes" not in report.columns:
        return
    for (_, statistic, unit), sweep in report.groups.items():
        if statistic == "mean" and in_base(1.0, unit)[1] == "ns" and _is_cold(sweep):
            first, later = sweep[0], sweep[2]
            yield finding("cold-size", first=first, later=later, factor=first.value / later.value)
            return


FAR_ROW = 10.0  # of a table, whose rows may be of anything: nothing but a start is so far off


def _cold_row(report: Report) -> Iterator[Finding]:
    """The first row of a table of times by size, where larger sizes take a tenth of it."""
    for (_, statistic, _), rows in report.groups.items():
        own = [time for time in rows if time.is_time and time.is_positive]
        sizes = [time.of.get("message_bytes", -1) for time in own]
        if statistic not in ("", "mean") or len(own) < 3 or sizes != sorted(set(sizes)):
            continue
        first, *later = (time.base_value for time in own[:3])
        if sizes[0] > 0 and first >= FAR_ROW * max(later):
            factor = first / later[1]
            yield finding("cold-size", first=own[0], later=own[2], factor=factor)
            return


def _is_cold(sweep: Sequence[Result]) -> bool:
    """Whether the first one, which has the smallest size, is far above those behind it."""
    sizes = [time.of.get("message_bytes", -1) for time in sweep]
    if len(sweep) <= LEAST_OTHERS or sizes != sorted(set(sizes)):
        return False
    times = [
        time.value for time, size in zip(sweep, sizes, strict=True) if 0 <= size <= LARGEST_BYTES
    ]
    near = times[2 : 1 + LEAST_OTHERS]
    if len(near) < LEAST_OTHERS - 1 or min(near) <= 0:
        return False
    return times[0] >= FAR_SIZE * max(times[1], *near) and max(near) <= ALIKE_SIZES * min(near)


LEAST_RISING, LEAST_STEADY = 2, 4  # intervals
BELOW = 0.8  # of the steady speed: what is still rising
STEADY_SPEED = 1.15  # fastest ÷ slowest of the others
BIASED = 0.95  # mean of all ÷ mean of the steady ones


@rule
def slow_start(report: Report) -> Iterator[Finding]:
    """A transfer took several intervals to come to its speed, and its mean has them in.

    Decided by the intervals: they rise from each to the next until they reach a speed that they
    keep. The same of a test of memory that tells its rate while it runs.
    """
    rates = report.called("throughput")
    totals = {owner_of(rate): rate for rate in rates if rate.statistic == "total"}
    intervals = intervals_of(report, "throughput") if totals else {}
    for owner, total in totals.items():
        own = intervals.get(owner, [])
        is_all = report.facts.get("streams") == 1 or owner[0] == SUM
        if is_all and (rising := list(_rising("slow-start", total, own))):
            yield from rising
            return  # the other end sees the same
    rates = report.called("transfer rate") if "interval_end_s" in report.columns else []
    of_memory = [rate for rate in rates if not rate.statistic]
    samples = [rate for rate in rates if rate.statistic == "sample"]
    if len(of_memory) == 1:
        yield from _rising("slow-start-of-memory", of_memory[0], samples)


def _rising(kind: str, total: Result, intervals: Sequence[Result]) -> Iterator[Finding]:
    values = [interval.base_value for interval in intervals]
    if len(values) < LEAST_RISING + LEAST_STEADY or not all(map(is_number, values)):
        return
    if max(values[:LEAST_RISING]) >= total.base_value:
        return  # as nearly all
    usual = sorted(values)[len(values) // 2]
    rising = next((at for at, value in enumerate(values) if value >= BELOW * usual), 0)
    steady = values[rising + 1 :]  # the one between may be of both
    if rising < LEAST_RISING or len(steady) < LEAST_STEADY or min(steady) <= 0:
        return
    rises = all(before <= after for before, after in pairwise(values[: rising + 1]))
    mean = sum(steady) / len(steady)
    is_steady = max(steady) <= STEADY_SPEED * min(steady)
    if rises and is_steady and sum(values) <= BIASED * mean * len(values):
        first, last = intervals[0], intervals[rising - 1]
        speed = mean / in_base(1.0, total.unit)[0]
        words = {"rising": rising, "first": first, "last": last, "total": total, "speed": speed}
        # What was printed of the whole may be of another time: what it is made of tells.
        yield finding(kind, words, factor=sum(values) / len(values) / mean)

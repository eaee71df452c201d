"""inconsistent-report, unequal-work: whether runs did the work that their figures are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import by_columns, grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# Kernels of doubles by name: what they read and write in bytes for each flop, and in words.
_PER_FLOP: tuple[tuple[re.Pattern[str], float, str], ...] = (
    (late(r"daxpy(?!_sp)"), 12.0, "reads two doubles and writes one for two flops"),
    (late(r"triad(?!_sp)"), 16.0, "reads three doubles and writes one for two flops"),
    (late(r"stream(?!_sp)"), 12.0, "reads two doubles and writes one for two flops"),
    (late(r"ddot(?!_sp)"), 8.0, "reads two doubles for two flops"),
    (late(r"sum(?!_sp)"), 8.0, "reads one double for one flop"),
)
_SINGLE = late(r"_(?:sp|int)(?:_|$)")  # of other sizes than a double
NEAR = 0.03


@rule
def bytes_of_flops(report: Report) -> Iterator[Finding]:
    """Bytes and flops of a kernel that is known by its name, and that has another ratio of both.

    Decided by what the loop of that name reads and writes; a rate that was made of the counted
    bytes is wrong by the same factor.
    """
    kernel = str(report.facts.get("kernel", ""))
    volume, rate = report.only("data volume"), report.only("bandwidth")
    flops = report.facts.get("operations")
    if volume is None or rate is None or not is_number(flops) or flops <= 0:
        return
    if _SINGLE.search(kernel):
        return
    for name, per_flop, words in _PER_FLOP:
        if name.match(kernel) and volume.is_positive:
            counted = volume.value / flops
            factor = counted / per_flop
            if abs(factor - 1) > NEAR:
                more = {"counted": counted, "needed": per_flop, "words": words, "kernel": kernel}
                more |= {"times": max(factor, 1 / factor), "low": "low" if factor < 1 else "high"}
                yield finding("bytes-of-flops", more, volume=volume, rate=rate, factor=factor)


class _Worked(NamedTuple):
    """A run's time, its rate, and the bytes that both make."""

    time: Result
    rate: Result
    moved: float


MORE = 1.1  # times the bytes


@rule
def unequal_work(reports: Sequence[Report]) -> Iterator[Finding]:
    """Runs of the same kernel over the same bytes that did not repeat it as often: their times
    tell nothing of each other.

    Decided by rate times time. Who compares the rates is right, who compares the times is not.
    """
    worked = [
        (report.facts["kernel"], report.facts.get("working_set_bytes"), own)
        for report in reports
        if report.facts.get("kernel")
        if (own := _worked(report))
    ]
    for several in grouped(worked, lambda entry: entry[:2]).values():
        runs = [own for *_, own in several]
        most = max(runs, key=lambda own: own.moved)
        least = min(runs, key=lambda own: own.moved)
        if most.moved > MORE * least.moved:
            words = {"most": most.time, "least": least.time, "times": most.moved / least.moved}
            words |= {"ratio": most.time.value / least.time.value}
            words |= {"rate": most.rate, "rate_of_least": least.rate}
            yield finding("unequal-work", words, about=[most.time, least.time])


def _worked(report: Report) -> _Worked | None:
    time, rate = report.only("time"), report.only("bandwidth")
    if time is None or rate is None or not (time.is_positive and rate.is_positive):
        return None
    return _Worked(time, rate, (rate.rate or 0.0) * time.base_value / 1e9)


SLOWER = 1.5  # times the other grid


@rule
def grid_of_processes(report: Report) -> Iterator[Finding]:
    """Runs of HPL on one number of processes, of which the grid nearer to a square is far slower.

    Decided by the printed grids and times; both runs solve the same problem.
    """
    runs = [time for time in report.called("time") if time.of.get("grid") and time.is_positive]
    for several in by_columns(runs, ("matrix_order", "block_rows", "processes")).values():
        fast = min(several, key=lambda run: run.value)
        slow = max(several, key=lambda run: (_squareness(run) > _squareness(fast), run.value))
        if slow.value >= SLOWER * fast.value and _squareness(slow) > _squareness(fast):
            yield finding("grid-of-processes", slow=slow, fast=fast)
            return


def _squareness(run: Result) -> float:
    """Rows over columns of its grid, or the other way round: 1 where it is a square."""
    rows, columns = (int(number) for number in str(run.of["grid"]).split(" x "))
    return min(rows, columns) / max(rows, columns, 1)

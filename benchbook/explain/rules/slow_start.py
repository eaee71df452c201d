"""warm-up: a transfer took several intervals to come to its speed, and its mean has them in.

Decided by the intervals: they rise from each to the next until they reach a speed that they keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from benchbook.core.number_format import number
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Group
from benchbook.explain.rules import Machine
from benchbook.explain.rules.bimodal import rate
from benchbook.explain.rules.common.transfer_parts import Intervals, intervals_of, whose
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "warm-up"
NEEDS = ("total", "interval_end_s")
LEAST_RISING, LEAST_STEADY = 2, 4  # intervals
BELOW = 0.8  # of the steady speed: what is still rising
STEADY = 1.15  # fastest ÷ slowest of the others
BIASED = 0.95  # mean of all ÷ mean of the steady ones
LIKELY = 0.85
OF_MEMORY = (
    "Leave the first seconds out, or let it last long enough that they do not count; and look for "
    "what made it slow there: pages that were touched for the first time, a clock that was low."
)
REMEDY = (
    "Leave the first seconds out (iperf3 -O SECONDS), or let it last long enough that they do not "
    "count; and look at the round trip: on a long path a window takes many of them to open."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each total that such intervals make."""
    del machine
    for report in reports:
        totals = {whose(one): one for one in report.kind("throughput", "total")}
        intervals = intervals_of(report, "throughput") if totals else {}
        for key, total in totals.items():
            own = intervals.get(key) if _is_whole(report, key) else None
            if own and (found := _judged(total, own)):
                yield found
                break  # the other end sees the same
        else:
            yield from _of_memory(report)


def _of_memory(report: Report) -> Iterator[Finding]:
    """The same of a test of memory that tells its rate while it runs."""
    own = report.called("transfer rate") if "interval_end_s" in report.columns else []
    totals = [one for one in own if not one.statistic]
    samples = Group(one for one in own if one.statistic == "sample")
    intervals = Intervals([(samples[0].unit, samples)] if samples else [])
    if len(totals) == 1 and (found := _judged(totals[0], intervals)):
        yield replace(found, remedy=OF_MEMORY)


def _is_whole(report: Report, key: tuple[object, ...]) -> bool:
    return report.facts.get("streams") == 1 or key[0] == SUM


def _judged(total: Result, own: Intervals) -> Finding | None:
    values = own.values()
    if len(values) < LEAST_RISING + LEAST_STEADY or max(values[:LEAST_RISING]) >= rate(total):
        return None  # as nearly all
    if not all(map(is_number, values)):
        return None
    usual = sorted(values)[len(values) // 2]
    rising = next((at for at, one in enumerate(values) if one >= BELOW * usual), 0)
    steady = values[rising + 1 :]  # the one between may be of both
    if rising < LEAST_RISING or len(steady) < LEAST_STEADY or min(steady) <= 0:
        return None
    rises = all(one <= two for one, two in pairwise(values[: rising + 1]))
    mean = sum(steady) / len(steady)
    if not rises or max(steady) > STEADY * min(steady) or sum(values) > BIASED * mean * len(values):
        return None
    # What was printed of the whole may be of another time: what it is made of tells.
    factor = sum(values) / len(values) / mean
    intervals = own.rows()
    first, last = intervals[0], intervals[rising - 1]
    speed = mean / in_base(1.0, total.unit)[0]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=factor,
        where=[total.where],
        confidence=LIKELY,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}") for one in (first, last)
        ]
        + [proof("mean of the steady intervals", speed, total.unit, "log")],
        explanation=(
            f"The first {rising} intervals rise from {number(first.value)} {first.unit} (line "
            f"{first.line}) to {number(last.value)} {last.unit} (line {last.line}), and from there "
            f"on it is {number(speed)} {total.unit}. The mean of line {total.line}, "
            f"{number(total.value)} {total.unit}, has the start in: it is {number(factor)} of that."
        ),
        remedy=REMEDY,
    )

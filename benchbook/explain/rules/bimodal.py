"""bimodal: the rate of a transfer is the mean of intervals at full speed and of nearly none.

Decided by the intervals of the whole transfer that the log has: two groups, far apart, each of
several. Of streams beside each other only the sum is looked at, for one may be fast while another
is slow; and not what is so slow that a block more or less makes the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.core.number_format import number
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.transfer_parts import whose
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "bimodal"
NEEDS = ("total",)
LEAST_APART = 4.0  # slowest of the fast ÷ fastest of the slow
LEAST, LEAST_SHARE = 2, 0.2  # of either group
LEAST_BYTES = 4 * 2**20  # of the fast ones: many blocks
PIECE = 0.5  # of the usual length: what is left at the end of a test
LIKELY = 0.85
REMEDY = (
    "Give both rates and how long each of them lasted, and look at what comes with the slow ones: "
    "retransmits, the window, the other traffic. A longer test makes the mean no truer."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each end and direction whose total is the mean of two such groups."""
    del machine
    for report in reports:
        totals = {whose(one): one for one in report.kind("throughput", "total")}
        if not totals or _is_even(report):
            continue
        intervals: dict[tuple[object, ...], list[Result]] = {}
        for one in report.kind("throughput", "interval"):
            if not one.of.get("omitted"):
                intervals.setdefault(whose(one), []).append(one)
        for key, total in totals.items():
            if report.facts.get("streams") == 1 or total.of.get("stream") == SUM:
                yield from _judged(total, intervals.get(key, []))


def _is_even(report: Report) -> bool:
    """Whether no interval is so much faster than any other: nearly all reports are."""
    ends = []
    for unit, several in report.alike("throughput", "interval"):
        size = in_base(1.0, unit)[0]
        ends.append((min(several.values) * size, max(several.values) * size))
    return not ends or max(most for _, most in ends) < LEAST_APART * min(least for least, _ in ends)


def _judged(total: Result, intervals: list[Result]) -> Iterator[Finding]:
    longest = max((_lasted(one) for one in intervals), default=0.0)
    # The first one is of a window that still grows.
    whole = [one for one in intervals[1:] if _lasted(one) > PIECE * longest]
    ordered = sorted((one for one in whole if is_number(one.value)), key=rate)
    least = max(LEAST, LEAST_SHARE * len(ordered))
    gaps = [
        (rate(above) / max(rate(below), 1.0), index)
        for index, (below, above) in enumerate(pairwise(ordered), 1)
        if least <= index <= len(ordered) - least
    ]
    apart, index = max(gaps, default=(0.0, 0))
    slow, fast = ordered[:index], ordered[index:]
    if apart >= LEAST_APART and fast[0].of.get("bytes_moved", 0) >= LEAST_BYTES:
        yield _finding(total, slow, fast)


def _lasted(one: Result) -> float:
    return float(one.of.get("elapsed_s", 0.0))


def rate(one: Result) -> float:
    """In B/s or bit/s, as it was printed."""
    return in_base(one.value, one.unit)[0]


def _finding(total: Result, slow: list[Result], fast: list[Result]) -> Finding:
    ends = (slow[-1], fast[0])
    said = [f"{number(one.value)} {one.unit}" for one in (*ends, total)]
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[total.where],
        confidence=LIKELY,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}") for one in (*ends, total)
        ],
        explanation=(
            f"{len(slow)} of {len(slow) + len(fast)} intervals ran at {said[0]} at most (line "
            f"{ends[0].line}), the others at {said[1]} at least (line {ends[1].line}), and none in "
            f"between. The {said[2]} of line {total.line} are the mean of both, and no interval "
            "ran at that."
        ),
        remedy=REMEDY,
    )

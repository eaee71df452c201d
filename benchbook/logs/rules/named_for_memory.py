"""cache-resident: a benchmark that is called one of memory, and whose bytes the caches hold.

Decided by the bytes of an iteration, its rate times its time, which it has no fewer of in hand, and
by what somebody calls it. Other loops over little are meant to be in a cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.patterns import late
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import bytes_per_s, in_base
from benchbook.sizes import format_bytes

ARTEFACT = "cache-resident"
MOST_SIZES = 3  # all in the caches: more are a walk through them
LIKELY = 0.75
REMEDY = (
    "For a figure of memory let an iteration work on several times the last-level caches; "
    "otherwise call it the figure of a cache."
)
_OF_MEMORY = late(
    r"mem(?:ory)?[ _-]?(?:bw|bandwidth)|dram|main[ _-]?memory|"
    r"stream[ _-]?(?:copy|scale|add|triad)",
    re.I,
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such benchmarks."""
    for report in reports:
        llc = machine.llc_bytes or report.facts.get("llc_bytes")
        if not llc or report.facts.get("cached_on_purpose"):
            continue
        sized = [found for one in report.knowing("benchmark") if (found := _sized(report, one))]
        sizes = {size for size, _ in sized}
        if sized and len(sizes) <= MOST_SIZES and max(sizes) <= llc:
            yield _finding(sized, int(llc), machine.source or "the log")


def _sized(report: Report, one: Result) -> tuple[int, Result] | None:
    """The bytes of an iteration of what is called a benchmark of memory."""
    rate = bytes_per_s(one.value, one.unit)
    called = f"{one.of.get('benchmark', '')} {one.of.get('label', '')}"
    if rate is None or one.statistic not in ("", "mean", "median", "sample"):
        return None
    if not is_number(rate) or not _OF_MEMORY.search(called):
        return None
    time = next(
        (
            in_base(other.value, other.unit)[0] / 1e9
            for other in report.called(f"{one.of['benchmark']} real time")
            if other.line == one.line and in_base(1.0, other.unit)[1] == "ns"
        ),
        0.0,
    )
    size = rate * time
    return (round(size), one) if is_number(size) and size >= 1 else None


def _finding(sized: list[tuple[int, Result]], llc: int, said_by: str) -> Finding:
    size, one = max(sized, key=lambda pair: pair[0])
    name = one.of["benchmark"]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[each.where for _, each in sized],
        confidence=LIKELY,
        evidence=[
            proof("bytes of an iteration", size, "bytes", f"line {one.line}"),
            proof("llc_bytes", llc, "bytes", "machine"),
        ],
        explanation=(
            f"{name} is called a benchmark of memory (line {one.line}), and an iteration goes over "
            f"{format_bytes(size)}, which the last-level caches of {format_bytes(llc)} ({said_by}) "
            "hold: after the first one it comes from there."
        ),
        remedy=REMEDY,
    )

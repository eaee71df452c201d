"""cache-resident: a benchmark that is called one of memory, and whose bytes the caches hold.

Decided by the bytes of an iteration, its rate times its time, which it has no fewer of in hand, and
by what somebody calls it. Other loops over little are meant to be in a cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "cache-resident"
NEEDS = ("benchmark",)
MOST_SIZES = 3  # all in the caches: more are a walk through them
LIKELY = 0.75
REMEDY = (
    "For a figure of memory let an iteration work on several times the last-level caches; "
    "otherwise call it the figure of a cache."
)
_STATISTICS = ("", "mean", "median", "sample")
# Bytes of an iteration ÷ the number in the name: once, a copy twice, a triad of doubles 24 times.
LEAST_TIMES, MOST_TIMES = 0.9, 26
_NUMBER = late(r"(?<=[/:])\d{3,15}(?![\d.])")
_OF_MEMORY = late(
    r"(?i:mem(?:ory)?[ _-]?(?:bw|bandwidth)|main[ _-]?memory|stream[ _-]?(?:copy|scale|add|triad))"
    r"|(?<![A-Z])D(?:RAM|ram)(?![a-z])|(?<![A-Za-z])dram(?![a-z])"
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such benchmarks."""
    for report in reports:
        llc = machine.llc_bytes or report.facts.get("llc_bytes")
        if not llc or report.facts.get("cached_on_purpose"):
            continue
        sized = list(_sized(report))
        # What a rate and a time make of one size differs by their digits.
        sizes = {f"{size:.1e}" for size, _ in sized}
        if sized and len(sizes) <= MOST_SIZES and max(size for size, _ in sized) <= llc:
            yield _finding(sized, int(llc), machine.source or "the log")


def _sized(report: Report) -> Iterator[tuple[int, Result]]:
    """The bytes of an iteration of what is called a benchmark of memory, where its name has a
    number of bytes or elements that they are of."""
    called = [one for one in report.knowing("benchmark") if _OF_MEMORY.search(_called(one))]
    times = {
        (one.of["benchmark"], one.line): in_base(one.value, one.unit)[0] / 1e9
        for one in called
        if one.name.endswith(" real time") and in_base(1.0, one.unit)[1] == "ns"
    }
    for one in called:
        rate = bytes_per_s(one.value, one.unit)
        if rate is None or not is_number(rate) or one.statistic not in _STATISTICS:
            continue
        size = rate * times.get((one.of["benchmark"], one.line), 0.0)
        said = [int(digits) for digits in _NUMBER.findall(str(one.of["benchmark"]))]
        if is_number(size) and any(
            LEAST_TIMES * each <= size <= MOST_TIMES * each for each in said if each
        ):
            yield round(size), one


def _called(one: Result) -> str:
    return f"{one.of.get('benchmark', '')} {one.of.get('label', '')}"


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

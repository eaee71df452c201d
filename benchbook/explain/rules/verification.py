"""not-verified, timer-granularity, inconsistent-report: summaries of programs that did not verify
what they computed, took no time, have another size than their class, or missed their check by
little.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain import npb_classes
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


@rule
def not_verified(report: Report) -> Iterator[Finding]:
    """A run of a program that verifies its own results, and did not; where it found them wrong, its
    message says so (context/error_messages.toml).

    Decided by the line in which the program says so.
    """
    if report.facts.get("verification") == "not performed" and report.results:
        words = {"benchmark": report.facts.get("benchmark", "the program")}
        words |= {"line": report.facts["verification_line"], "first": report.results[0]}
        yield finding("verification-skipped", words, about=report.results)


@rule
def time_of_zero(report: Report) -> Iterator[Finding]:
    """A program whose whole time was printed as 0, and whose rate is made of that."""
    time = report.only("time")
    if "problem_class" in report.facts and time is not None and time.value == 0:
        words = {"benchmark": report.facts.get("benchmark", "the program"), "time": time}
        yield finding("time-of-zero", words, of_none=report.only("rate"))


@rule
def size_of_class(report: Report) -> Iterator[Finding]:
    """A class of the NAS Parallel Benchmarks whose size is another one's."""
    benchmark = str(report.facts.get("benchmark", ""))
    problem_class = str(report.facts.get("problem_class", ""))
    printed = report.facts.get("problem_size")
    defined = npb_classes.size(benchmark, problem_class)
    # Some print a cube by its side.
    accepted = {defined, defined.partition("x")[0]}
    if printed and defined and str(printed) not in accepted and report.results:
        words = {"benchmark": benchmark, "class": problem_class, "printed": printed}
        words |= {"defined": defined, "line": report.line}
        yield finding("size-of-class", words, about=report.results)


FLOAT = 2.0**-23  # the precision of a float


@rule
def sum_off_by_little(report: Report) -> Iterator[Finding]:
    """A sum in floats that failed its check by as little as rounding makes, or a few elements."""
    off, sums = report.facts.get("sum_error"), report.called("Dot")
    if is_number(off):
        words = {"off": off, "times": off / FLOAT, "line": report.facts["sum_error_line"]}
        yield finding("sum-off-by-little", words, about=sums or report.results)

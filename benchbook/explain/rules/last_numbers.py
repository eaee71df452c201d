"""inconsistent-report: figures that are the last number of a variable, of any tool."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.counters_of_runs import SOURCES
from benchbook.findings import Finding

NEAR = 1e-3  # of 2^64, what a difference of counts over a time makes; no rate is so large
POWERS = ((64, 2.0**64), (63, 2.0**63))
EXACT = 1e-9
SCALES = (1e3, 1e6, 1e9)  # by which a tool divides what it counts in ns or us


@rule
def wrapped_figures(report: Report) -> Iterator[Finding]:
    """Figures at 2^63 or 2^64, or near, also divided by a thousand, a million or more.

    Decided by the number alone.
    """
    if report.tool in SOURCES:
        return  # whose counts have a rule of their own
    wrapped = [(own, power) for own in report.results if (power := power_of(own))]
    if wrapped:
        figure, power = wrapped[0]
        how = "" if figure.value > 2.0**62 else " in a smaller unit"
        words = {"figure": figure, "power": power}
        words["how"] = how
        yield finding("wrapped-figure", words, about=[own for own, _ in wrapped])


def power_of(own: Result) -> str:
    """The power of two that a figure stands for that nothing was put into; "" of most figures."""
    if own.value < 9e9 or own.unit == "B":
        return ""
    for exponent, power in POWERS:
        if abs(own.value / power - 1) <= NEAR:
            is_last = abs(own.value / power - 1) <= EXACT
            return f"2^{exponent}" if is_last else f"about 2^{exponent}"
        if any(abs(own.value * scale / power - 1) <= EXACT for scale in SCALES):
            return f"2^{exponent}"
    return ""

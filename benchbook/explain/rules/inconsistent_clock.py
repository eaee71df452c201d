"""inconsistent-report: a time, and the clocks that it took, which no processor's clock makes.

Both are one measurement: their ratio is the processor's own clock, some hundred MHz to some GHz.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("clocks",)
SLOWEST_GHZ, FASTEST_GHZ = 0.4, 8.0  # of what is measured with, by far
REMEDY = (
    "Do not use either figure before it is known which of the two is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a time."""
    del machine
    for report in reports:
        odd = [one for one in report.knowing("clocks") if _is_odd(one)]
        if odd:
            yield _finding(odd)


def _is_odd(one: Result) -> bool:
    """Whether no clock makes it, as far as the digits of both tell."""
    clocks, (ns, base) = one.of.get("clocks"), in_base(one.value, one.unit)
    if base != "ns" or not is_number(clocks) or not is_number(ns) or clocks <= 0 or ns <= 0:
        return False
    open_clocks, open_ns = half_of_last_digit(clocks), half_of_last_digit(ns)
    least = (clocks - open_clocks) / (ns + open_ns)
    most = (clocks + open_clocks) / (ns - open_ns) if ns > open_ns else FASTEST_GHZ
    return least > FASTEST_GHZ or most < SLOWEST_GHZ


def _finding(odd: list[Result]) -> Finding:
    first = odd[0]
    clocks = first.of["clocks"]
    ghz = clocks / in_base(first.value, first.unit)[0]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in odd],
        confidence=1.0,
        evidence=[
            proof(first.name, first.value, first.unit, f"line {first.line}"),
            proof("clocks", clocks, "clocks", f"line {first.line}"),
        ],
        explanation=(
            f"{first.name} in line {first.line} took {first.value:,.6g} {first.unit} and "
            f"{clocks:,.6g} clocks: that is a clock of {number(ghz)} GHz, which no processor has."
        ),
        remedy=REMEDY,
    )

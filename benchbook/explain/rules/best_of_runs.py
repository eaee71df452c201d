"""best-of-n: what somebody gives is the best of several runs, and the others are far from it.

Decided by the runs that the log shows, and by the line that calls one of their figures the best.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.best_of_n import REMEDY
from benchbook.findings import Finding, proof

ARTEFACT = "best-of-n"
NEEDS = ("best_of",)
FAR = 1.3  # best ÷ median of the runs
SURE = 0.9


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each such figure."""
    del machine
    for report in reports:
        for one in report.being("best") if "best_of" in report.columns else ():
            median = one.of.get("median_of_runs")
            if is_number(median) and 0 < FAR * median <= one.value:
                yield _finding(one, median)


def _finding(one: Result, median: float) -> Finding:
    factor = one.value / median
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        factor=factor,
        where=[one.where],
        confidence=SURE,
        evidence=[
            proof("best", one.value, one.unit, f"line {one.line}"),
            proof("median of the runs", median, one.unit, "log"),
        ],
        explanation=(
            f"Line {one.line} gives {one.value:,.10g} {one.unit} for {one.name}, the best of "
            f"{one.of['best_of']} runs, which is {number(factor)} times their median of "
            f"{number(median)} {one.unit}. It is what seldom happens there."
        ),
        remedy=REMEDY,
    )

"""inconsistent-report: the tool prints figures, and that its own check of the results failed.

A figure counts the work that the program should have done; its check says that something else was
done, or that memory, link or compiler are at fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("validated",)
_FIGURES = ("B/s", "bit/s", "ns")
REMEDY = (
    "Do not use any figure of this run: find out first why its results are wrong (the flags of the "
    "compiler, a race of threads, the memory itself), and measure again until the check passes."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose results, or those of some of its lines, were wrong."""
    del machine
    for report in reports:
        if "validated" not in report.facts and "validated" not in report.columns:
            continue
        wrong = [one for one in report.results if report.column(one, "validated") is False]
        figures = [one for one in wrong if in_base(1.0, one.unit)[1] in _FIGURES]
        if figures:
            first = figures[0]
            yield Finding(
                artefact=ARTEFACT,
                effect="invalidates",
                where=[one.where for one in figures],
                confidence=1.0,
                evidence=[proof("validated", 0, "passed checks", f"line {first.line}")],
                explanation=(
                    f"The run from line {report.line} prints figures, such as {first.value:,.10g} "
                    f"{first.unit} for {first.name} (line {first.line}), and also that the check "
                    "of its results failed: what was timed is not the work that they count."
                ),
                remedy=REMEDY,
            )

"""inconsistent-report: the tool prints rates, and that its own check of the results failed.

A rate counts the bytes of the work that the program should have done; its check says that something
else was done, or that memory or compiler are at fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report
from benchbook.logs.rules import Machine
from benchbook.logs.units import bytes_per_s

ARTEFACT = "inconsistent-report"
REMEDY = (
    "Do not use any figure of this run: find out first why its results are wrong (the flags of the "
    "compiler, a race of threads, the memory itself), and measure again until the check passes."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run with rates whose results were wrong."""
    del machine
    for report in reports:
        if report.facts.get("validated") is not False:
            continue
        rates = [one for one in report.results if bytes_per_s(one.value, one.unit) is not None]
        if rates:
            first = rates[0]
            yield Finding(
                artefact=ARTEFACT,
                effect="invalidates",
                where=[one.where for one in rates],
                confidence=1.0,
                evidence=[proof("validated", 0, "passed checks", f"line {report.line}")],
                explanation=(
                    f"The run from line {report.line} prints rates, such as {first.value:,.10g} "
                    f"{first.unit} for {first.name}, and also that the check of its results "
                    "failed: what was timed is not the work that these rates count."
                ),
                remedy=REMEDY,
            )

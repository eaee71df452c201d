"""inconsistent-report: a deviation that no numbers between the printed minimum and maximum have.

Half of the range is the most that the deviation of any numbers in it can be; of two of them, as a
sample's, it is 0.71 of the range.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report
from benchbook.logs.latencies import Latencies, latencies
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "inconsistent-report"
MOST = 0.75  # of the range
NAMES = ("min", "max", "sd")
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, or who copied "
    "or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each set of latencies with such a deviation."""
    del machine
    for report in reports:
        for own in latencies(report) if report.being("sd") else ():
            if all(name in own.by_statistic for name in NAMES) and _is_beyond(own):
                yield _finding(own)


def _is_beyond(own: Latencies) -> bool:
    shown = [own.by_statistic[name] for name in NAMES]
    if not all(is_number(one.value) for one in shown):
        return False
    least, most, deviation = (in_base(one.value, one.unit)[0] for one in shown)
    open_ns = sum(in_base(half_of_last_digit(one.value), one.unit)[0] for one in shown)
    return least <= most and deviation > MOST * (most - least) + 2 * open_ns


def _finding(own: Latencies) -> Finding:
    shown = [own.by_statistic[name] for name in NAMES]
    least, most, deviation = shown
    times = (own.ns("sd") or 0.0) / max((own.ns("max") or 0.0) - (own.ns("min") or 0.0), 1e-9)
    beyond = f", {number(times)} times the range" if least.value < most.value else ""
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {deviation.line} gives a deviation of {deviation.value:,.6g} {deviation.unit} "
            f"for times between {least.value:,.6g} {least.unit} and {most.value:,.6g} {most.unit}"
            f"{beyond}. No numbers deviate by more than 0.71 of the range that they lie in."
        ),
        remedy=REMEDY,
    )

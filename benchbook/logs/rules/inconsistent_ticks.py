"""inconsistent-report: the ticks of the clock in one test are not its time over its granularity."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.02
CERTAIN = 1.0
REMEDY = "Do not trust the head of this log: ask whoever copied or edited it."


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a number."""
    del machine
    for report in reports:
        names = ("expected_us", "clock_resolution_ns", "clock_ticks")
        time_us, resolution, ticks = (report.facts.get(name) for name in names)
        if not is_number(time_us) or not is_number(resolution) or not is_number(ticks):
            continue
        made = time_us * 1e3 / resolution if resolution > 0 else ticks
        # Both were cut to whole numbers.
        if abs(ticks - made) > 1 + 1e3 / max(resolution, 1) + TOLERANCE * made:
            yield Finding(
                artefact=ARTEFACT,
                effect="invalidates",
                factor=ticks / made if made > 0 else None,
                where=[f"line {report.line}: clock ticks"],
                confidence=CERTAIN,
                evidence=[
                    proof(name, report.facts[name], unit, "log")
                    for name, unit in zip(names, ("us", "ns", "ticks"), strict=True)
                ],
                explanation=(
                    f"The run from line {report.line} counts {ticks:,} ticks of its clock in a "
                    f"test, but {time_us:,} µs in steps of {resolution / 1e3:g} µs are {made:,.0f}."
                ),
                remedy=REMEDY,
            )

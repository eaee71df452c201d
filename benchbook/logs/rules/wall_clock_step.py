"""wall-clock-step: the clock that timed a tool's samples was set while it ran.

Decided by the tool's own word that its clock went back, or by an exchange that took less than no
time.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import duration, plural
from benchbook.importers import Report
from benchbook.logs.latencies import NAMES
from benchbook.logs.rules import Machine

ARTEFACT = "wall-clock-step"
CERTAIN = 1.0


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose clock was seen to go back."""
    del machine
    for report in reports:
        below = [one for one in report.being("sample", "min") if one.value < 0]
        negative = [one for one in below if one.name in NAMES]
        step_ns, line = report.facts.get("clock_step_ns"), report.facts.get("clock_step_line")
        where = [one.where for one in negative]
        if step_ns:
            yield _finding(
                [f"line {line}: clock", *where],
                f"the tool says so itself: by {duration(step_ns)} (line {line})",
                proof("clock_step_ns", step_ns, "ns", f"line {line}"),
            )
        elif negative:
            first = negative[0]
            yield _finding(
                where,
                f"{plural(len(negative), 'exchange')} took less than no time, as "
                f"{first.value:g} {first.unit} in line {first.line}",
                proof(first.name, first.value, first.unit, f"line {first.line}"),
            )


def _finding(where: list[str], seen: str, evidence: dict[str, object]) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.wall_clock_step import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=where,
        confidence=CERTAIN,
        evidence=[evidence],
        explanation=(
            f"The clock that timed these exchanges went back while they ran: {seen}. Those around "
            "it are wrong by that much, and so are minimum, mean and deviation of all."
        ),
        remedy=REMEDY,
    )

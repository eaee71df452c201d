"""inconsistent-report: a figure is of another size than the command line above it asks for.

Tools that print the size of what they work on print what they were told, in megabytes of 10⁶ or of
2²⁰ bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.sizes import format_bytes

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.1  # megabytes of both kinds, and few digits of small ones
CERTAIN = 0.95
REMEDY = (
    "Do not use these figures before it is known of which size they are: ask whoever put the log "
    "together."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such figures."""
    del machine
    for report in reports:
        odd = [one for one in report.knowing("asked_bytes") if _is_other(one)]
        if odd:
            yield _finding(odd)


def _is_other(one: Result) -> bool:
    asked, size = one.of.get("asked_bytes"), one.of.get("working_set_bytes")
    return is_number(asked) and is_number(size) and abs(size - asked) > TOLERANCE * asked


def _finding(odd: list[Result]) -> Finding:
    one = odd[0]
    asked, size = one.of["asked_bytes"], one.of["working_set_bytes"]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[each.where for each in odd],
        confidence=CERTAIN,
        evidence=[
            proof("working_set_bytes", size, "bytes", f"line {one.line}"),
            proof("asked_bytes", asked, "bytes", "log"),
        ],
        explanation=(
            f"Line {one.line} is of {format_bytes(round(size))}, but the command above it asks for "
            f"{format_bytes(asked)}."
        ),
        remedy=REMEDY,
    )

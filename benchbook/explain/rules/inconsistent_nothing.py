"""inconsistent-report: a run that was to move bytes performed not one operation.

sysbench 1.0 gives each thread the whole blocks of its share, and where a share is less than one
block it has none: the run ends at once, with rates of 0 that no memory has.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import plural
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("total_bytes",)
REMEDY = (
    "Set all figures of this run aside. Ask for at least as many blocks as there are threads (a "
    "larger total, smaller blocks or fewer threads), and see that operations were counted."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report that counts no operation of those that it says it was to do."""
    del machine
    for report in reports:
        asked = report.facts.get("total_bytes")
        counted = report.called("operations")
        if is_number(asked) and asked > 0 and counted and not any(one.value for one in counted):
            yield _finding(report, counted[0], int(asked))


def _finding(report: Report, none: Result, asked: int) -> Finding:
    line = f"line {none.line}"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[none.where],
        confidence=1.0,
        evidence=[
            proof("operations", none.value, none.unit, line),
            proof("total_bytes", asked, "bytes", f"line {report.line}"),
        ],
        explanation=(
            f"The run was to move {format_bytes(asked)}, and it performed 0 operations (line "
            f"{none.line}): nothing was timed, and its rate of 0 is none of the memory."
            f"{_shared(report, asked)}"
        ),
        remedy=REMEDY,
    )


def _shared(report: Report, asked: int) -> str:
    """Why, where the sums tell it."""
    block, threads = report.facts.get("array_bytes"), report.facts.get("threads")
    if not (is_number(block) and is_number(threads)) or block * threads <= asked:
        return ""
    return (
        f" Shared among {plural(int(threads), 'thread')} that is less than one block of "
        f"{format_bytes(int(block))} for each."
    )

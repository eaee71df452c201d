"""inconsistent-report: a tool says one of its figures twice, and not as the same."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine

ARTEFACT = "inconsistent-report"
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each figure that its importer found said once more, and otherwise."""
    del machine
    for report in reports:
        for again in report.knowing("said_again"):
            first = next(
                one
                for one in (*report.called(again.name), again)
                if one is again or one.statistic == again.statistic
            )
            if is_number(first.value) and is_number(again.value) and first.value != again.value:
                yield _finding(first, again)


def _finding(first: Result, again: Result) -> Finding:
    shown = (first, again)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {first.line} gives {first.value:,.10g} {first.unit} as the {first.statistic} of "
            f"{first.name}, and line {again.line} gives {again.value:,.10g} {again.unit} as the "
            "same figure."
        ),
        remedy=REMEDY,
    )

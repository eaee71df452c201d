"""inconsistent-report: a number of the log is not what others of the same run make of it.

A time that is not cycles over clock, a volume that is not size times repetitions, operations of all
threads that are not those of one times their number: what the tool computed itself from what it
printed beside it. A printed number is as good as its digits.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Twice
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.03  # what rounding of more than was printed may make
SHOWN = 3
REMEDY = (
    "Do not use these figures before it is known which of the numbers is wrong: ask whoever copied "
    "or edited the log, and compute them from the raw output."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such numbers."""
    del machine
    for report in reports:
        odd = [one for one in report.twice if _is_odd(one)]
        if odd:
            yield _finding(odd)


def _is_odd(one: Twice) -> bool:
    apart = abs(one.said - one.made)
    return is_number(apart) and apart > one.slack + TOLERANCE * abs(one.made)


def _finding(odd: list[Twice]) -> Finding:
    said = [
        f"line {one.line} says {_amount(one.said, one.unit)} for {one.name}, but {one.made_of} "
        f"{'are' if one.unit else 'is'} {_amount(one.made, one.unit)}"
        for one in odd[:SHOWN]
    ]
    more = [f"{len(odd) - SHOWN} more"] if len(odd) > SHOWN else []
    text = listed([*said, *more])
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[f"line {one.line}: {one.name}" for one in odd],
        confidence=1.0,
        evidence=[proof(one.name, one.said, one.unit or "1", f"line {one.line}") for one in odd],
        explanation=f"{text[0].upper()}{text[1:]}.",
        remedy=REMEDY,
    )


def _amount(value: float, unit: str) -> str:
    if unit == "bytes" and value >= 1:
        return f"{value:,.0f} bytes"
    return f"{value:,.6g} {unit}".strip()

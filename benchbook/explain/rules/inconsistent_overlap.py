"""inconsistent-report: an overlap of communication and computation that its own times do not make.

Decided by the times beside it: of the time that communication alone takes, that is hidden by which
both together are shorter than one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
OVERLAP = "overlap"
NEEDS = (OVERLAP,)
TIMES = ("overall", "compute", "pure comm.")  # what the names of such times end with
WHOLE = 100.01  # per cent
POINTS = 2.0  # per cent; what the rounding of more than was printed may make
LEAST_HALF = 0.005  # of a time with two decimals, of which zeros are lost here
REMEDY = (
    "Do not use the overlap before it is known which of the four numbers is wrong: compute it from "
    "the times of the raw output."
)


class _Odd(NamedTuple):
    overlap: Result
    times: list[Result]
    made: float


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such overlaps."""
    del machine
    for report in reports:
        overlaps = [one for one in report.called(OVERLAP) if one.unit == "%"]
        if beyond := [one for one in overlaps if one.value > WHOLE]:
            yield _beyond(beyond)
            continue
        beside = _beside(report) if overlaps else {}
        odd = [
            found
            for one in overlaps
            if len(times := beside.get(one.line, {})) == len(TIMES)
            and (found := _odd(one, [times[name] for name in TIMES]))
        ]
        if odd:
            yield _finding(odd)


def _beyond(beyond: list[Result]) -> Finding:
    worst = max(beyond, key=lambda one: one.value)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in beyond],
        confidence=1.0,
        evidence=[proof(worst.name, worst.value, worst.unit, f"line {worst.line}")],
        explanation=(
            f"Line {worst.line} says {worst.value:g} % of overlap: more than all of the "
            "communication cannot be hidden."
        ),
        remedy=REMEDY,
    )


def _beside(report: Report) -> dict[int, dict[str, Result]]:
    """By line, the times that an overlap is made of."""
    found: dict[int, dict[str, Result]] = {}
    for one in report.being("mean"):
        if end := next((name for name in TIMES if one.name.endswith(name)), None):
            found.setdefault(one.line, {})[end] = one
    return found


def _odd(overlap: Result, times: list[Result]) -> _Odd | None:
    if not all(is_number(one.value) for one in (overlap, *times)) or times[2].value <= 0:
        return None
    overall, compute, alone = (one.value for one in times)
    made = 100 * (alone + compute - overall) / alone
    made = made if overlap.value < 0 else max(0.0, made)
    halves = sum(max(LEAST_HALF, half_of_last_digit(one.value)) for one in times)
    slack = POINTS + 100 * halves * (1 + made / 100) / alone
    return _Odd(overlap, times, made) if abs(overlap.value - made) > slack else None


def _finding(odd: list[_Odd]) -> Finding:
    worst = max(odd, key=lambda one: abs(one.overlap.value - one.made))
    overall, compute, alone = worst.times
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.overlap.where for one in odd],
        confidence=1.0,
        evidence=[
            proof(one.name, one.value, one.unit, f"line {one.line}")
            for one in (worst.overlap, *worst.times)
        ],
        explanation=(
            f"Line {worst.overlap.line} says {worst.overlap.value:g} % of overlap, but "
            f"communication takes {alone.value:g} {alone.unit} alone, computation "
            f"{compute.value:g}, and both together {overall.value:g}: {number(worst.made)} % of "
            "the communication was hidden."
        ),
        remedy=REMEDY,
    )

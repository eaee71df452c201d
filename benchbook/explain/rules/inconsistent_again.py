"""inconsistent-report: a tool says one of its figures twice, and not as the same."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("said_again",)
OF_DIGITS = 1.01  # times what they leave open: a rate may be cut before it is made bits
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each figure that its importer found said once more, and otherwise."""
    del machine
    for report in reports:
        firsts: dict[tuple[str, str], Result] = {}
        for one in report.results if "said_again" in report.columns else ():
            firsts.setdefault((one.name, one.statistic), one)
        for again in report.knowing("said_again"):
            first = firsts[again.name, again.statistic]
            if is_number(first.value) and is_number(again.value) and not _alike(first, again):
                yield _finding(first, again)


def _alike(first: Result, again: Result) -> bool:
    """Whether they are, as far as their digits tell; one may be in bytes, the other in bits."""
    both = [
        rate if (rate := bytes_per_s(value, one.unit)) is not None else in_base(value, one.unit)[0]
        for one in (first, again)
        for value in (one.value, half_of_last_digit(one.value))
    ]
    return abs(both[0] - both[2]) <= OF_DIGITS * (both[1] + both[3])


def _finding(first: Result, again: Result) -> Finding:
    shown = (first, again)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {first.line} gives {first.value:,.10g} {first.unit} for {first.name} "
            f"({first.statistic}), and line {again.line} gives {again.value:,.10g} {again.unit} as "
            "the same figure."
        ),
        remedy=REMEDY,
    )

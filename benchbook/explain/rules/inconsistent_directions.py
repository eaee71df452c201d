"""inconsistent-report: what both directions of a transfer carried together is not what each of them
did; of each pair of devices, and of their sums."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
TOGETHER = "_total"
EACH = (("_read1", "_read2"), ("_write1", "_write2"))
TOLERANCE = 0.002
OF_DIGITS = 0.016  # half of the second decimal, of each of the three
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, and add both directions yourself."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each test in which they do not add up."""
    del machine
    for report in reports:
        for name in dict.fromkeys(key[0] for key in report.groups if key[0].endswith(TOGETHER)):
            yield from islice(_odd(report, name), 1)


def _odd(report: Report, name: str) -> Iterator[Finding]:
    begin = name.removesuffix(TOGETHER)
    for ends in EACH:
        ways = [_by_place(report.called(begin + end)) for end in ends]
        for place, both in _by_place(report.called(name)).items() if all(ways) else ():
            parts = [way[place] for way in ways if place in way]
            total = sum(one.value for one in parts)
            slack = OF_DIGITS + TOLERANCE * max(total, both.value)
            if len(parts) == 2 and abs(both.value - total) > slack:
                yield _finding(both, parts, total)


def _by_place(several: list[Result]) -> dict[tuple[object, ...], Result]:
    """By pair of devices, or the sum of all; what a log has twice tells nothing."""
    found: dict[tuple[object, ...], Result] = {}
    twice = set()
    for one in several:
        place = one.statistic, one.of.get("row"), one.of.get("column")
        if place in found:
            twice.add(place)
        if is_number(one.value) and one.value >= 0:
            found[place] = one
    return {place: one for place, one in found.items() if place not in twice}


def _finding(both: Result, parts: list[Result], total: float) -> Finding:
    shown = (both, *parts)
    first, second = parts
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=both.value / total if total else None,
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {both.line} says {both.value:,.6g} {both.unit} for both directions together, "
            f"but {first.value:,.6g} (line {first.line}) and {second.value:,.6g} (line "
            f"{second.line}) make {total:,.6g} {both.unit}."
        ),
        remedy=REMEDY,
    )

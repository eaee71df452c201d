"""inconsistent-report: a time that is not its cycles over the clock, or a rate of operations that
is not their number over the time.

Where a tool prints the parts of which it computed a figure, they make it but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.02  # what rounding of more than was printed may make
ELEMENTS = (8, 16)  # of a cache line: double and single precision
CERTAIN = 1.0
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


class _Made(NamedTuple):
    """A figure as its parts make it: `above` over `below`, times `times`."""

    figure: Result
    above: float
    below: float
    times: float
    parts: str


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a figure."""
    del machine
    for report in reports:
        for one in _made(report):
            if one.above > 0 and one.below > 0 and _is_off(one):
                yield _finding(one)
                break
        else:
            yield from _per_line(report)


def _made(report: Report) -> Iterator[_Made]:
    clock, operations = (report.facts.get(name) for name in ("cycle_clock_hz", "operations"))
    if not is_number(clock) and not is_number(operations):
        return
    own = {name: _one(report, name) for name in ("time", "cycles", "arithmetic rate")}
    time, cycles, rate = own.values()
    if time is None:
        return
    time_s = in_base(time.value, time.unit)[0] / 1e9
    if cycles and is_number(clock):
        yield _Made(time, cycles.value, clock, 1.0, f"{cycles.value:,.0f} cycles at {clock:,} Hz")
    if rate and rate.unit == "MFLOP/s" and is_number(operations):
        yield _Made(rate, operations, time_s, 1e-6, f"{operations:,} operations in {time_s:g} s")


def _per_line(report: Report) -> Iterator[Finding]:
    """Cycles of a cache line that are not those of the 8 or 16 elements in it."""
    update, line = (_one(report, name) for name in ("cycles per update", "cycles per cache line"))
    if update is None or line is None or update.value <= 0:
        return
    slack = TOLERANCE * line.value + max(ELEMENTS) * half_of_last_digit(update.value)
    if all(abs(line.value - many * update.value) > slack for many in ELEMENTS):
        many = min(ELEMENTS, key=lambda one: abs(line.value - one * update.value))
        parts = f"{many} updates of {update.value:g} cycles (line {update.line})"
        yield _finding(_Made(line, many * update.value, 1.0, 1.0, parts))


def _one(report: Report, name: str) -> Result | None:
    found = [one for one in report.called(name) if is_number(one.value)]
    return found[0] if len(found) == 1 else None


def _is_off(one: _Made) -> bool:
    value, made = one.figure.value, one.times * one.above / one.below
    return abs(value - made) > TOLERANCE * made + half_of_last_digit(value)


def _finding(one: _Made) -> Finding:
    figure, made = one.figure, one.times * one.above / one.below
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=figure.value / made,
        where=[figure.where],
        confidence=CERTAIN,
        evidence=[
            proof(figure.name, figure.value, figure.unit, f"line {figure.line}"),
            proof("made of its parts", made, figure.unit, "log"),
        ],
        explanation=(
            f"Line {figure.line} says {figure.value:,.7g} {figure.unit} for {figure.name}, but "
            f"{one.parts} make {number(made)} {figure.unit}."
        ),
        remedy=REMEDY,
    )

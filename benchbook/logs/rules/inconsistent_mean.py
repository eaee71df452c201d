"""inconsistent-report: a printed mean is not the mean of the samples that are printed with it."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import plural
from benchbook.importers import Report
from benchbook.logs.printed import half_of_last_digit
from benchbook.logs.rules import Machine
from benchbook.logs.samples import Series, series

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.005
REMEDY = (
    "Do not use the mean: compute it from the samples, and ask whoever copied or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each mean that all of its own samples contradict."""
    del machine
    for one in series(reports):
        if one.mean and one.is_whole() and (found := _finding(one)):
            yield found


def _finding(one: Series) -> Finding | None:
    values = [sample.value for sample in one.samples]
    if one.mean is None or min(values) <= 0:
        return None
    # Of rates some tools print bytes over the mean time, which is the harmonic mean.
    arithmetic = sum(values) / len(values)
    harmonic = len(values) / sum(1 / value for value in values)
    printed = one.mean.value
    if harmonic * (1 - TOLERANCE) <= printed <= arithmetic * (1 + TOLERANCE):
        return None  # as nearly all are, without asking for digits
    # Some tools cut a mean off instead of rounding it.
    digits = 2 * half_of_last_digit(printed) + max(map(half_of_last_digit, values))
    low, high = harmonic * (1 - TOLERANCE) - digits, arithmetic * (1 + TOLERANCE) + digits
    if any(sample.of.get("at_most") for sample in one.samples):
        low = 0.0  # `<1ms` may be anything below
    if low <= printed <= high:
        return None
    first, last = one.samples[0].line, one.samples[-1].line
    lines = f"lines {first} to {last}" if first != last else f"line {first}"
    unit = one.mean.unit
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.mean.where],
        confidence=1.0,
        factor=printed / arithmetic,
        evidence=[
            proof("printed mean", printed, unit, f"line {one.mean.line}"),
            proof("mean of the samples", arithmetic, unit, lines),
        ],
        explanation=(
            f"Line {one.mean.line} gives {printed:,.10g} {unit} as the mean of {one.mean.name}, "
            f"but its {plural(len(values), 'sample')} ({lines}) go from "
            f"{min(values):,.6g} to {max(values):,.6g} and have a mean of {arithmetic:,.6g} {unit}."
        ),
        remedy=REMEDY,
    )

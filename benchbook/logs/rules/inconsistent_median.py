"""inconsistent-report: a printed median is not the middle one of the samples that are printed with
it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import plural
from benchbook.importers import SETTING, Report, Result
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.samples import Series, series

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.005
REMEDY = (
    "Do not use the median: take the middle one of the samples, and ask whoever copied or edited "
    "the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each median of samples that are all there."""
    del machine
    having = [report for report in reports if report.being("median")]
    medians = {id(report): _medians(report) for report in having}
    for one in series(having):
        median = medians[id(one.report)].get(_figure(one.samples[0]))
        if median is not None and median.of.get("repetitions") == len(one.samples):
            yield from _judged(one, median)


def _medians(report: Report) -> dict[tuple[object, ...], Result]:
    """By figure; none of a figure that has several."""
    found: dict[tuple[object, ...], list[Result]] = {}
    for one in report.being("median"):
        found.setdefault(_figure(one), []).append(one)
    return {key: own[0] for key, own in found.items() if len(own) == 1 and is_number(own[0].value)}


def _figure(one: Result) -> tuple[object, ...]:
    return one.name, one.unit, *(one.of.get(name) for name in SETTING)


def _judged(one: Series, median: Result) -> Iterator[Finding]:
    values = [sample.value for sample in one.samples]
    if not all(map(is_number, values)) or min(values) <= 0:
        return
    made = statistics.median(values)
    slack = TOLERANCE * made + 2 * half_of_last_digit(median.value)
    if abs(median.value - made) <= slack + max(map(half_of_last_digit, values)):
        return
    first, last = one.samples[0].line, one.samples[-1].line
    lines = f"lines {first} to {last}" if first != last else f"line {first}"
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[median.where],
        confidence=1.0,
        factor=median.value / made,
        evidence=[
            proof("printed median", median.value, median.unit, f"line {median.line}"),
            proof("median of the samples", made, median.unit, lines),
        ],
        explanation=(
            f"Line {median.line} gives {median.value:,.10g} {median.unit} as the median of "
            f"{median.name}, but that of its {plural(len(values), 'sample')} ({lines}) is "
            f"{made:,.6g} {median.unit}."
        ),
        remedy=REMEDY,
    )

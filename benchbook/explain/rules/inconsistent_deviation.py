"""inconsistent-report: a deviation that no samples between the printed extremes have.

Of n samples from a to b with a mean of m none deviate by more than the root of (m - a)(b - m),
times that of n ÷ (n - 1), as they do where all are at the ends (Bhatia and Davis 2000): half of
their span at most. Where nobody tells how many there are, they are taken to be two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import Latencies, repetitions
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
DEVIATIONS = ("sd", "stddev")
NEEDS = DEVIATIONS
TOLERANCE = 0.01
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, who edited the "
    "log, or runs that were put together."
)
# Columns of one number, not of its setting.
OWN = {"elapsed_s", "elapsed_error_s", "bytes_moved", "repetitions", "class_width"}


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """The first such deviation of each report."""
    del machine
    for report in reports:
        if report.being(*DEVIATIONS):
            yield from islice(_impossible(report), 1)


def _impossible(report: Report) -> Iterator[Finding]:
    figures: dict[tuple[object, ...], dict[str, list[Result]]] = {}
    setting = sorted(report.columns - OWN)
    for one in report.being("min", "max", "mean", *DEVIATIONS):
        key = one.name, one.unit, *(str(one.of.get(name)) for name in setting)
        figures.setdefault(key, {}).setdefault(one.statistic, []).append(one)
    for by in figures.values():
        # Of several sets of samples with one setting nobody knows which is whose.
        if all(len(own) == 1 and is_number(own[0].value) for own in by.values()):
            yield from _of_one(report, {name: own[0] for name, own in by.items()})


def _of_one(report: Report, by: dict[str, Result]) -> Iterator[Finding]:
    deviation = by.get("sd") or by.get("stddev")
    least, most = by.get("min"), by.get("max")
    if deviation is None or least is None or most is None or most.value < least.value:
        return
    count = max(2, repetitions(report, Latencies(deviation.name, by, [])))
    bound = (most.value - least.value) / 2 * math.sqrt(count / (count - 1))
    open_to = 3 * max(map(half_of_last_digit, (least.value, most.value, deviation.value)))
    mean = by.get("mean")
    if mean and least.value <= mean.value <= most.value:
        half = half_of_last_digit(mean.value)
        around = (mean.value - least.value + half) * (most.value - mean.value + half)
        bound = min(bound, math.sqrt(around * count / (count - 1)))
    if mean:
        # Tools that subtract the square of a mean which they cut lose as much as that is off.
        open_to += math.sqrt(4 * half_of_last_digit(mean.value) * abs(mean.value))
    if deviation.value > bound * (1 + TOLERANCE) + open_to:
        yield _finding(deviation, least, most, bound)


def _finding(deviation: Result, least: Result, most: Result, bound: float) -> Finding:
    shown = (deviation, least, most)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        factor=deviation.value / bound if bound > 0 else None,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {deviation.line} gives {deviation.value:,.6g} {deviation.unit} as the deviation "
            f"of {deviation.name}, but all of its samples lie between {least.value:,.6g} (line "
            f"{least.line}) and {most.value:,.6g} {most.unit} (line {most.line}). Samples of that "
            f"span deviate by {bound:,.4g} {deviation.unit} at most."
        ),
        remedy=REMEDY,
    )

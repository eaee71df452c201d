"""inconsistent-report: a printed minimum, maximum, median or deviation that is not that of the
samples which are printed with it.

Where a sample lies beyond the printed ends, inconsistent_order tells it: here the ends are those
that no sample reaches.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from benchbook.explain.model import SETTING, Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import series
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("sample",)
TOLERANCE, OF_DEVIATION = 0.005, 0.03


def _deviation(values: Sequence[float]) -> float:
    """Of a sample. (The module's own takes a minute for a million.)"""
    mean = sum(values) / len(values)
    return math.sqrt(sum((one - mean) * (one - mean) for one in values) / (len(values) - 1))


OF: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "median": statistics.median,
    "stddev": _deviation,
}
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: compute them from the "
    "samples, and ask whoever copied or edited the log."
)
Key = tuple[object, ...]


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a figure."""
    del machine
    for report in reports:
        printed = _printed(report) if report.series else {}
        if printed:
            yield from islice(_of_samples(report, printed), 1)


def _key(one: Result, statistic: str) -> Key:
    return one.name, statistic, *(one.of.get(name) for name in SETTING)


def _printed(report: Report) -> dict[Key, Result]:
    """What is printed once of each figure."""
    found: dict[Key, list[Result]] = {}
    for one in report.being(*OF):
        if is_number(one.value) and "process" not in one.of:
            found.setdefault(_key(one, one.statistic), []).append(one)
    return {key: several[0] for key, several in found.items() if len(several) == 1}


def _of_samples(report: Report, printed: dict[Key, Result]) -> Iterator[Finding]:
    for one in series([report]):
        values = one.values
        if any(one.samples.column("at_most")) or min(values) <= 0:
            continue
        for statistic, of in OF.items():
            said = printed.get(_key(one.samples[0], statistic))
            if said is None or said.unit != one.samples[0].unit:
                continue
            if said.of.get("repetitions") != len(values) or said.of.get("computed"):
                continue
            made = of(values)
            if not is_number(made):
                continue
            if (statistic == "min" and said.value > made) or (
                statistic == "max" and said.value < made
            ):
                continue
            share = OF_DEVIATION if statistic == "stddev" else TOLERANCE
            # Of few samples it matters whether a deviation is that of all or of a sample.
            least = made * math.sqrt(1 - 1 / len(values)) if statistic == "stddev" else made
            low, high = least * (1 - share), made * (1 + share)
            if low <= said.value <= high:
                continue  # as nearly all do: the digits of very many take long
            digits = 2 * (half_of_last_digit(said.value) + _half(values))
            if not low - digits <= said.value <= high + digits:
                yield _unlike(said, made, one.samples)


def _half(values: Sequence[float]) -> float:
    """Half of the last digit: those that are as large have as many, whatever zeros were lost."""
    by_size: dict[int, float] = {}
    for value in values:
        size, half = math.frexp(value)[1] // 3, half_of_last_digit(value)
        by_size[size] = min(by_size.get(size, half), half)
    return max(by_size.values())


def _unlike(said: Result, made: float, samples: Sequence[Result]) -> Finding:
    first, last = samples[0].line, samples[-1].line
    lines = f"lines {first} to {last}" if first != last else f"line {first}"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[said.where],
        confidence=1.0,
        evidence=[
            proof(said.where, said.value, said.unit, f"line {said.line}"),
            proof(f"{said.statistic} of the samples", made, said.unit, lines),
        ],
        explanation=(
            f"Line {said.line} gives {said.value:,.6g} {said.unit} as the {said.statistic} of "
            f"{said.name}, but the {len(samples)} samples ({lines}) have {made:,.6g} {said.unit}."
        ),
        remedy=REMEDY,
    )

"""inconsistent-report: a printed rate is not the printed bytes over the printed time.

A printed number is the interval that its digits allow. Where the ratio is the one between two
units, the label is wrong and not the arithmetic: then it is `unit-mix`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from benchbook.core.number_format import number, plural
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.02  # what rounding of more than was printed may make
MOST_HALF_S = 0.05  # seconds are printed with one decimal at least, if it is a zero
ON_CONSTANT = 0.004
CONSTANTS = {
    1.024: "kilobytes of 1000 and of 1024 bytes",
    1.048576: "megabytes of 10⁶ and of 2²⁰ bytes",
    1.073741824: "gigabytes of 10⁹ and of 2³⁰ bytes",
    8.0: "bits and bytes",
}
CERTAIN, BY_CONSTANT = 1.0, 0.9
EXACT = 1 << 53  # smaller whole numbers are floats too
REMEDY = (
    "Do not use this figure before it is known which of the numbers is wrong: compute it from the "
    "raw output, and ask whoever copied or edited the log."
)
OF_UNITS = "Say which unit is meant before the figure is compared with any other."


class _Odd(NamedTuple):
    result: Result
    moved: float
    elapsed_s: float
    ratio: float  # printed rate ÷ bytes ÷ time


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such rates, one where they are off by a unit."""
    del machine
    for report in reports:
        odd = [found for one in _unmade(report) if (found := _odd(one))]
        constants = {_constant(one.ratio) for one in odd}
        if len(constants) == 1 and (constant := constants.pop()):
            yield _of_units(odd, constant)
        elif odd:
            yield _finding(odd)


def _unmade(report: Report) -> Iterator[Result]:
    """Those that are not what their bytes and their time make at once, as nearly all are."""
    if "bytes_moved" not in report.columns:
        return
    for (_, _, unit), several in report.groups.items():
        if not (one_unit := bytes_per_s(1.0, unit)):
            continue
        every = several.column("bytes_moved")
        if not any(every):
            continue
        rows = zip(several.values, every, several.column("elapsed_s"), strict=True)
        for at, (value, moved, elapsed) in enumerate(rows):
            kind = type(moved)
            if kind is int and moved < EXACT:
                kind = float
            if kind is type(elapsed) is type(value) is float:
                # Of what is infinite or no number the difference is none either.
                if not abs(value * one_unit * elapsed - moved) <= TOLERANCE * moved < math.inf:
                    yield several[at]
            elif moved is not None and elapsed is not None:
                yield several[at]


def _odd(one: Result) -> _Odd | None:
    """A rate that its bytes and its time cannot make, whatever digits were cut off them."""
    rate = bytes_per_s(one.value, one.unit)
    moved, elapsed = one.of.get("bytes_moved"), one.of.get("elapsed_s")
    if rate is None or not is_number(moved) or not is_number(elapsed) or moved <= 0 or rate < 0:
        return None
    made = moved / elapsed if elapsed > 0 else math.inf
    if made * (1 - TOLERANCE) <= rate <= made * (1 + TOLERANCE):
        return None
    error = one.of.get("elapsed_error_s")
    half = float(error) if is_number(error) else min(half_of_last_digit(elapsed), MOST_HALF_S)
    if elapsed + half <= 0:
        return None
    share = half_of_last_digit(one.value) / one.value if one.value else 1.0
    low = moved / (elapsed + half) * (1 - TOLERANCE - share)
    high = moved / (elapsed - half) * (1 + TOLERANCE + share) if elapsed > half else math.inf
    if low <= rate <= high:
        return None
    ratio = rate * elapsed / moved if elapsed > 0 else math.inf
    return _Odd(one, moved, elapsed, ratio)


def _constant(ratio: float) -> float | None:
    factor = max(ratio, 1 / ratio) if ratio > 0 else 0.0
    return next((one for one in CONSTANTS if math.isclose(factor, one, rel_tol=ON_CONSTANT)), None)


def _evidence(one: _Odd) -> list[dict[str, object]]:
    line = f"line {one.result.line}"
    return [
        proof("rate", one.result.value, one.result.unit, line),
        proof("bytes_moved", one.moved, "bytes", line),
        proof("elapsed_s", one.elapsed_s, "s", line),
    ]


def _said(one: _Odd) -> str:
    made = one.moved / one.elapsed_s if one.elapsed_s > 0 else math.inf
    return (
        f"Line {one.result.line} says {one.result.value:,.10g} {one.result.unit} for "
        f"{one.result.name}, but {format_bytes(round(one.moved))} in {one.elapsed_s:,.6g} s are "
        f"{number(made / 1e6)} MB/s ({number(made / 2**20)} MiB/s)"
    )


def _finding(odd: list[_Odd]) -> Finding:
    worst = max(odd, key=lambda one: abs(math.log(one.ratio)) if 0 < one.ratio < math.inf else 99)
    more = f"; {plural(len(odd) - 1, 'more line')} like it" if len(odd) > 1 else ""
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=worst.ratio if 0 < worst.ratio < math.inf else None,
        where=[one.result.where for one in odd],
        confidence=CERTAIN,
        evidence=_evidence(worst),
        explanation=(
            f"{_said(worst)}: a factor of {number(worst.ratio)} that no rounding makes{more}."
        ),
        remedy=REMEDY,
    )


def _of_units(odd: list[_Odd], constant: float) -> Finding:
    return Finding(
        artefact="unit-mix",
        effect="biases",
        factor=odd[0].ratio,
        where=[one.result.where for one in odd],
        confidence=BY_CONSTANT,
        evidence=_evidence(odd[0]),
        explanation=(
            f"{_said(odd[0])}: the factor of {number(odd[0].ratio)} is the one between "
            f"{CONSTANTS[constant]}, so the rate is right in another unit than the one it names."
        ),
        remedy=OF_UNITS,
    )

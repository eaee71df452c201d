"""A printed quotient of two printed numbers: is it that, and what to say where it is not."""

from __future__ import annotations

from benchbook.core.number_format import number
from benchbook.explain.model import Result
from benchbook.explain.printed_digits import half_of_last_digit
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.05  # repeated runs have means of ratios
EXACT = ("operations", "events")  # where they are printed without a decimal point
FEW_DIGITS = 0.02  # half of the last one ÷ the number: fewer tell nothing
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def made_of(above: Result, below: Result, times: float) -> float | None:
    """The quotient of two results in base units, times a factor; None where their digits, or a 0,
    do not tell it."""
    parts = [in_base(one.value, one.unit)[0] for one in (above, below)]
    if min(parts) <= 0 or any(_half(one) > FEW_DIGITS * one.value for one in (above, below)):
        return None
    return times * parts[0] / parts[1]


def is_off(
    metric: Result, made: float, tolerance: float = TOLERANCE, digits: float | None = None
) -> bool:
    """Whether the printed one is further from what was made than means and its digits allow.
    `digits`: what those leave open; where it is not known, too much, as zeros at the end are lost.
    """
    left_open = 2 * half_of_last_digit(metric.value) if digits is None else digits
    return abs(metric.value - made) > tolerance * made + left_open


def contradiction(metric: Result, above: Result, below: Result, made: float) -> Finding:
    """What to say about such a metric."""
    shown = (metric, above, below)
    unit = "" if metric.unit == "1" else f" {metric.unit}"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=metric.value / made,
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {metric.line} says {metric.value:g}{unit} for {metric.name}, but {above.name} "
            f"(line {above.line}) over {below.name} (line {below.line}) is {number(made)}{unit}."
        ),
        remedy=REMEDY,
    )


def _half(one: Result) -> float:
    """Of a time with zeros at its end only the importer knows its digits; counts have no others."""
    if one.unit in EXACT and float(one.value).is_integer():
        return 0.0
    known = one.of.get("elapsed_error_s")
    return float(known) if known is not None else half_of_last_digit(one.value)

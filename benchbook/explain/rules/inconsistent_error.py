"""inconsistent-report: an error of a mean that is printed twice, as a time and as a share of the
mean, and is not the same."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("error_percent",)
TOLERANCE = 0.02  # of the share, beside what digits leave open
HALF_PERCENT = 0.005  # shares are printed with two decimals
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each such mean."""
    del machine
    for report in reports:
        means = {(one.name, one.line): one for one in _errors(report, report.being("mean"))}
        for error in _errors(report, report.being("standard error")):
            said, mean = error.of.get("error_percent"), means.get((error.name, error.line))
            if mean is not None and is_number(said) and mean.value > 0:
                made = 100 * error.value / mean.value
                share = half_of_last_digit(error.value) / error.value if error.value > 0 else 0.0
                if abs(said - made) > made * (TOLERANCE + share) + HALF_PERCENT:
                    yield _finding(mean, error, float(said), made)


def _errors(report: Report, results: list[Result]) -> list[Result]:
    """Those that may be meant: finite ones, where any says its share."""
    if "error_percent" not in report.columns:
        return []
    return [one for one in results if is_number(one.value)]


def _finding(mean: Result, error: Result, said: float, made: float) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[mean.where, error.where],
        confidence=1.0,
        evidence=[
            proof(mean.where, mean.value, mean.unit, f"line {mean.line}"),
            proof(error.where, error.value, error.unit, f"line {error.line}"),
            proof("error", said, "%", f"line {error.line}"),
        ],
        explanation=(
            f"Line {error.line} gives {said:g} % as the error of {mean.name}, but ± "
            f"{error.value:,.6g} {error.unit} are {made:.3g} % of {mean.value:,.6g} {mean.unit}."
        ),
        remedy=REMEDY,
    )

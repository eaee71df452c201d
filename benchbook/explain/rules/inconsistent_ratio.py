"""inconsistent-report: a printed ratio of two times is not that of the times."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("said_times",)
TOLERANCE = 0.03  # the ratio is made of times with more digits than are printed
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, and compute the ratio from the times."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each command of which a summary says so."""
    del machine
    for report in reports:
        said, fastest = report.facts.get("said_times"), report.facts.get("fastest_s")
        if not is_number(said) or not is_number(fastest) or fastest <= 0:
            continue
        means = [one for one in report.called("time") if one.statistic == "mean"]
        if len(means) == 1 and is_number(means[0].value) and means[0].value > 0:
            yield from _judged(report, means[0], said, fastest)


def _judged(report: Report, mean: Result, said: float, fastest_s: float) -> Iterator[Finding]:
    mean_s = in_base(mean.value, mean.unit)[0] / 1e9
    if mean_s <= 0:
        return  # no float holds it
    # A table tells the faster ones by their reference, too.
    is_faster = bool(report.facts.get("is_faster"))
    made = fastest_s / mean_s if is_faster else mean_s / fastest_s
    # Of the other time only the number is left: its digits are taken to be as many.
    half_s = in_base(half_of_last_digit(mean.value), mean.unit)[0] / 1e9
    slack = made * (TOLERANCE + half_s / mean_s + half_s / fastest_s) + half_of_last_digit(said)
    if abs(said - made) <= slack:
        return
    line, other = report.facts["said_times_line"], report.facts["fastest_line"]
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=said / made if made > 0 else None,
        where=[mean.where, f"line {line}: times faster"],
        confidence=1.0,
        evidence=[
            proof("times faster", said, "1", f"line {line}"),
            proof("mean", mean.value, mean.unit, f"line {mean.line}"),
            proof("reference" if is_faster else "fastest", fastest_s, "s", f"line {other}"),
        ],
        explanation=(
            f"Line {line} says {said:g} times{' faster' if is_faster else ''}, but "
            + (
                f"the one that it is compared with (line {other}) is {number(made)} times the mean "
                f"of {mean.value:,.6g} {mean.unit} (line {mean.line})."
                if is_faster
                else f"the mean of {mean.value:,.6g} {mean.unit} (line {mean.line}) is "
                f"{number(made)} times the one that it is compared with (line {other})."
            )
        ),
        remedy=REMEDY,
    )

"""inconsistent-report: a warning of the tool has other figures than what it warns of.

It names the deviation, the mean and their ratio; below it the tool prints mean and deviation again.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("warned_stddev_ns",)
TOLERANCE = 0.03  # three digits here, and fewer there
LEAST_POINTS = 1.01  # of a share in whole per cent
CERTAIN = 1.0
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a warning."""
    del machine
    for report in reports:
        names = ("warned_stddev_ns", "warned_mean_ns", "warned_share")
        spread, middle, share = (report.facts.get(name) for name in names)
        if not is_number(spread) or not is_number(middle) or not is_number(share) or middle <= 0:
            continue
        made = 100 * spread / middle
        if abs(made - share) > LEAST_POINTS + TOLERANCE * made:
            yield _finding(
                report,
                f"{duration(spread)} are {share:g} % of {duration(middle)}, and they are "
                f"{made:.3g} %",
            )
        elif other := _other(report, {"mean": middle, "stddev": spread}):
            yield _finding(report, other)


def _other(report: Report, said: dict[str, float]) -> str:
    """What the tool printed otherwise, if anything."""
    for one in report.called("time"):
        value, base = in_base(one.value, one.unit)
        warned = said.get(one.statistic)
        if warned is None or base != "ns" or not is_number(value):
            continue
        half = in_base(half_of_last_digit(one.value), one.unit)[0]
        if abs(value - warned) > 2 * half + TOLERANCE * max(value, warned):
            return (
                f"the {one.statistic} is {duration(warned)}, but line {one.line} says "
                f"{one.value:g} {one.unit}"
            )
    return ""


def _finding(report: Report, what: str) -> Finding:
    line = report.facts.get("warned_in_line", report.line)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[f"line {line}: warning"],
        confidence=CERTAIN,
        evidence=[
            proof(name, report.facts[name], unit, f"line {line}")
            for name, unit in (("warned_stddev_ns", "ns"), ("warned_mean_ns", "ns"))
        ],
        explanation=f"The warning of line {line} says that {what}.",
        remedy=REMEDY,
    )

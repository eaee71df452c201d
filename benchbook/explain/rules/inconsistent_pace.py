"""inconsistent-report: more exchanges a second than their round trips leave room for.

With so many under way at any time, a rate times the mean round trip is that number; less where the
tool pauses or waits for what was lost, never more.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import Latencies, latencies
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("outstanding",)
TOLERANCE = 0.15  # a mean out of a histogram, and the ends of a test
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, who edited the "
    "log, or several processes whose rates were added."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a rate."""
    del machine
    for report in reports:
        outstanding = report.facts.get("outstanding")
        rates = [one for one in report.called("transaction rate") if one.statistic == "total"]
        if outstanding and len(rates) == 1 and is_number(rates[0].value):
            for own in latencies(report):
                yield from _of_one(rates[0], own, outstanding)


def _of_one(rate: Result, own: Latencies, outstanding: int) -> Iterator[Finding]:
    mean_ns = own.ns("mean")
    if mean_ns is None or not 0 < mean_ns < float("inf"):
        return
    most = outstanding * 1e9 / mean_ns
    if rate.value <= most * (1 + TOLERANCE):
        return
    mean = own.by_statistic["mean"]
    at_once = "one after another" if outstanding == 1 else f"{outstanding} at a time"
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[rate.where, mean.where],
        confidence=1.0,
        factor=rate.value / most,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}") for one in (rate, mean)
        ],
        explanation=(
            f"Line {rate.line} says {rate.value:,.6g} {rate.unit}, but with {own.said('mean')} for "
            f"each and {at_once}, as the tool says, there are {most:,.4g} a second at most."
        ),
        remedy=REMEDY,
    )

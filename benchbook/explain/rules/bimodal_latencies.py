"""bimodal: latencies of two kinds, each nearly constant, and a mean between both.

Decided by quantiles: within what is below the gap they hardly differ, nor within what is above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.core.number_format import number
from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import Latencies, latencies, repetitions
from benchbook.findings import Finding, proof

ARTEFACT = "bimodal"
NEEDS = ("median",)
QUANTILES = ("min", "p25", "median", "p75", "p90", "p99")
APART = 3.0  # from one quantile to the next
ALIKE = 1.4  # the same, within either kind
LEAST = 50  # exchanges
LIKELY = 0.85
REMEDY = (
    "Give both times and how often each of them came, instead of the mean, and look at what tells "
    "them apart: another core or socket, a sleeping one, another queue, another path."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each set of latencies with such a gap."""
    del machine
    for report in reports:
        if not report.being("median"):
            continue
        for own in latencies(report):
            if repetitions(report, own) >= LEAST and (gap := _gap(own)):
                yield _finding(own, *gap)


def _gap(own: Latencies) -> tuple[str, str] | None:
    """The quantiles on either side of it."""
    known = [(name, ns) for name in QUANTILES if (ns := own.ns(name)) and ns > 0]
    if any(two < one for (_, one), (_, two) in pairwise(known)):
        return None  # one of them is wrong, which is told
    for (_, first), (low, below), (high, above), (_, last) in zip(
        known, known[1:], known[2:], known[3:], strict=False
    ):
        if above >= APART * below and below <= ALIKE * first and last <= ALIKE * above:
            return low, high
    return None


def _finding(own: Latencies, low: str, high: str) -> Finding:
    shown = [own.by_statistic[name] for name in (low, high, "mean") if name in own.by_statistic]
    times = (own.ns(high) or 0.0) / (own.ns(low) or 1.0)
    mean, between = own.ns("mean") or 0.0, ""
    if (own.ns(low) or 0.0) * ALIKE < mean < (own.ns(high) or 0.0) / ALIKE:
        between = f" The mean, {own.said('mean')}, is of neither."
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in shown],
        confidence=LIKELY,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"There are two kinds of exchanges: those up to the {low}, {own.said(low)}, hardly "
            f"differ, nor do those from the {high} on, {own.said(high)}, which take "
            f"{number(times)} times as long.{between}"
        ),
        remedy=REMEDY,
    )

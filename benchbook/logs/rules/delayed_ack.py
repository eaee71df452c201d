"""delayed-ack: exchanges over TCP that last the 40 ms for which a receiver keeps its
acknowledgement back.

Decided by a mode at that time beside faster exchanges; where all last so long, only if the other
end is near.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import duration
from benchbook.importers import Report, Result
from benchbook.logs.addresses import is_near
from benchbook.logs.latencies import Latencies, latencies
from benchbook.logs.rules import Machine

ARTEFACT = "delayed-ack"
FAST = 0.25  # of the delay: faster exchanges of the same connection
BY_MODE, BY_NEARNESS = 0.9, 0.75
_LOOKED_AT = ("median", "p75", "p90", "p99", "p99.9")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such exchanges."""
    del machine
    over_tcp = [one for one in reports if one.facts.get("protocol") == "tcp"]
    found = [(report, finding) for report in over_tcp for finding in _found(report)]
    far = _far(reports) if found else set()
    for report, finding in found:
        if report.facts.get("far_address") not in far:
            yield finding


def _found(report: Report) -> Iterator[Finding]:
    for own in latencies(report):
        if found := _seen(report, own):
            yield _finding(own, *found)
    rates = [one for one in report.called("transaction rate") if one.value > 0]
    for one in rates:
        each_ns = 1e9 / one.value * (one.of.get("outstanding") or 1)
        if _is_delay(each_ns) and is_near(report):
            yield _of_rate(one, each_ns)


def _is_delay(ns: float | None) -> bool:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.delayed_ack import DELAY_NS, MODE_NS

    return ns is not None and abs(ns - DELAY_NS) <= MODE_NS


def _far(reports: list[Report]) -> set[object]:
    """Addresses with which exchanges that are not over TCP take as long: as a ping does."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.delayed_ack import DELAY_NS

    return {
        address
        for report in reports
        if "protocol" not in report.facts and (address := report.facts.get("far_address"))
        if any((own.ns("min") or 0) >= DELAY_NS / 2 for own in latencies(report))
    }


def _seen(report: Report, own: Latencies) -> tuple[str, float] | None:
    """The lowest quantile at the delay, and how sure that is."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.delayed_ack import DELAY_NS

    ways = 2 if own.name == "latency" else 1  # half of a round trip was printed
    at = [name for name in _LOOKED_AT if _is_delay((own.ns(name) or 0) * ways)]
    if not at and "median" not in own.by_statistic and _is_delay((own.ns("mean") or 0) * ways):
        at = ["mean"]
    if not at:
        return None
    least = own.ns("min")
    if least is not None and least * ways < FAST * DELAY_NS:
        return at[0], BY_MODE
    return (at[0], BY_NEARNESS) if is_near(report) else None


def _finding(own: Latencies, statistic: str, confidence: float) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.delayed_ack import REMEDY

    one = own.by_statistic[statistic]
    whole = " for one way, twice that for the round trip" if own.name == "latency" else ""
    sure = confidence == BY_MODE
    network = "the network itself is not" if sure else "the way to a near address is seldom"
    least = f", while the fastest take {own.said('min')}" if "min" in own.by_statistic else ""
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.where],
        confidence=confidence,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}")],
        explanation=(
            f"The {statistic} of the exchanges over TCP is {own.said(statistic)}{whole}{least}. "
            "That is the time for which Linux keeps an acknowledgement back, while the other side "
            f"keeps a small segment back until it comes: {network} that slow."
        ),
        remedy=REMEDY,
    )


def _of_rate(one: Result, each_ns: float) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.delayed_ack import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.where],
        confidence=BY_NEARNESS,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}")],
        explanation=(
            f"{one.value:,.4g} transactions a second (line {one.line}) are {duration(each_ns)} "
            "each, to an address as near as a private one. That is the time for which Linux keeps "
            "an acknowledgement back while the other side waits for it; only a ping that takes "
            "as long would be another reason."
        ),
        remedy=REMEDY,
    )

"""delayed-ack: exchanges over TCP that last the 40 ms, or 200 ms, for which a receiver keeps its
acknowledgement back.

Decided by a mode at that time beside faster exchanges; where all last so long, only if the other
end is near: by its address, or by exchanges with it in the same log that are not over TCP.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.addresses import is_near
from benchbook.explain.rules.common.latencies import Latencies, latencies
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "delayed-ack"
FAST = 0.25  # of the delay: faster exchanges of the same connection
BY_MODE, BY_NEARNESS = 0.9, 0.75
LONG_NS = 200e6  # what Windows waits, and Linux at most; a lost segment is sent again as late
_LOOKED_AT = ("median", "p75", "p90", "p99", "p99.9")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such exchanges."""
    del machine
    for report in reports:
        yield from _of_protocols(report)
    over_tcp = [one for one in reports if one.facts.get("protocol") == "tcp"]
    if not over_tcp:
        return
    far, soon = _answers(reports)
    for report in over_tcp:
        if _ends(report).isdisjoint(far):
            yield from _found(report, not _ends(report).isdisjoint(soon))


def _of_protocols(report: Report) -> Iterator[Finding]:
    """A latency over TCP at the delay, where the same program's over UDP is far below it."""
    kinds = {
        kind: [
            one
            for (name, _, _), own in report.groups.items()
            if name.startswith(kind)
            for one in own
        ]
        for kind in ("TCP latency", "UDP latency")
    }
    slow = [one for one in kinds["TCP latency"] if is_delay(in_base(one.value, one.unit)[0])]
    soon = [one for one in kinds["UDP latency"] if is_fast(in_base(one.value, one.unit)[0])]
    if slow and soon:
        yield _beside_udp(slow[0], soon[0])


def _found(report: Report, answers_soon: bool) -> Iterator[Finding]:
    for own in latencies(report):
        if found := _seen(report, own):
            yield _finding(own, *found)
    rates = [one for one in report.called("transaction rate") if one.value > 0]
    for one in rates:
        each_ns = 1e9 / one.value * (one.of.get("outstanding") or 1)
        if is_delay(each_ns) and (answers_soon or is_near(report)):
            yield _of_rate(one, each_ns, answers_soon)


def is_delay(ns: float | None, *, of_most: bool = True) -> bool:
    """`of_most`: whether it is of half of the exchanges at least, as few are of lost segments."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import DELAY_NS, MODE_NS

    delays = (DELAY_NS, LONG_NS) if of_most else (DELAY_NS,)
    return ns is not None and any(abs(ns - one) <= MODE_NS for one in delays)


def is_fast(ns: float) -> bool:
    """Whether it is far below any such delay."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import DELAY_NS

    return 0 < ns < FAST * DELAY_NS


def who_waits(ns: float) -> str:
    """Who keeps an acknowledgement back for so long."""
    return "Windows, and Linux at most," if ns > LONG_NS / 2 else "Linux"


def _answers(reports: list[Report]) -> tuple[set[object], set[object]]:
    """Ends whose every answer takes as long where it is not over TCP, as one to a ping; and ends
    whose slowest one is far faster."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import DELAY_NS

    far, soon = set[object](), set[object]()
    for report in reports:
        if "protocol" in report.facts or not (ends := _ends(report)):
            continue
        for own in latencies(report):
            if (own.ns("min") or 0) >= DELAY_NS / 2:
                far |= ends
            if 0 < (own.ns("max") or 0) < FAST * DELAY_NS:
                soon |= ends
    return far, soon


def _ends(report: Report) -> set[object]:
    """What the other end is called."""
    return {report.facts[name] for name in ("far_host", "far_address") if report.facts.get(name)}


def _seen(report: Report, own: Latencies) -> tuple[str, float] | None:
    """The lowest quantile at the delay, and how sure that is."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import DELAY_NS

    ways = 2 if own.name == "latency" else 1  # half of a round trip was printed
    at = [
        name
        for name in _LOOKED_AT
        if is_delay((own.ns(name) or 0) * ways, of_most=name == "median")
    ]
    if not at and "median" not in own.by_statistic and is_delay((own.ns("mean") or 0) * ways):
        at = ["mean"]
    if not at:
        return None
    least = own.ns("min")
    if least is not None and least * ways < FAST * DELAY_NS:
        return at[0], BY_MODE
    return (at[0], BY_NEARNESS) if is_near(report) else None


def _finding(own: Latencies, statistic: str, confidence: float) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import REMEDY

    one = own.by_statistic[statistic]
    who = who_waits((own.ns(statistic) or 0) * (2 if own.name == "latency" else 1))
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
            f"That is the time for which {who} keeps an acknowledgement back, while the other side "
            f"keeps a small segment back until it comes: {network} that slow."
        ),
        remedy=REMEDY,
    )


def _beside_udp(one: Result, over_udp: Result) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.where],
        confidence=BY_MODE,
        evidence=[
            proof(each.where, each.value, each.unit, f"line {each.line}")
            for each in (one, over_udp)
        ],
        explanation=(
            f"{one.name} is {one.value:,.6g} {one.unit} (line {one.line}), and {over_udp.name} "
            f"{over_udp.value:,.6g} {over_udp.unit} (line {over_udp.line}). That is the time for "
            f"which {who_waits(in_base(one.value, one.unit)[0])} keeps an acknowledgement back, "
            "while the other side keeps a small segment back until it comes: the network itself "
            "is not that slow."
        ),
        remedy=REMEDY,
    )


def _of_rate(one: Result, each_ns: float, answers_soon: bool) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import REMEDY

    near, but = (
        ("a host that answers far sooner to a ping in this log", "")
        if answers_soon
        else (
            "an address as near as a private one",
            "; only a ping that takes as long would be another reason",
        )
    )
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.where],
        confidence=BY_NEARNESS,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}")],
        explanation=(
            f"{one.value:,.4g} transactions a second (line {one.line}) are {duration(each_ns)} "
            f"each, to {near}. That is the time for which {who_waits(each_ns)} keeps an "
            f"acknowledgement back while the other side waits for it{but}."
        ),
        remedy=REMEDY,
    )

"""lost-packets, cpu-bound: what packet generators and packet filters show of losses, and links that
are full of datagrams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain.addresses import stays_in_host
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.transfer_ends import ends_of_transfer, over_udp
from benchbook.findings import Finding

TOOL = "packet generator"
LEAST_LOST = 0.001  # of the packets
FEW_LOST = 1e-5
MISSING = 0.02  # of a rate
BUSY = 95.0  # per cent


def _of(report: Report, name: str) -> Result | None:
    own = report.called(name)
    return own[-1] if own else None


@rule
def dropped_packets(report: Report) -> Iterator[Finding]:
    """Packets that a port missed, or that had no room on sending, next to those that it counted."""
    if report.tool != TOOL:
        return
    pairs = (
        ("packets missed", "packets received", "missed-packets"),
        ("packets dropped on receipt", "packets received", "missed-packets"),
        ("packets dropped on sending", "packets sent", "unsent-packets"),
    )
    for lost_name, name, kind in pairs:
        lost, count = _of(report, lost_name), _of(report, name)
        if lost and count and lost.is_positive:
            share = lost.value / (lost.value + count.value)
            if share >= LEAST_LOST:
                yield finding(kind, lost=lost, count=count, share=share)
    yield from _of_trex(report)


@rule
def missed_few(reports: Sequence[Report]) -> Iterator[Finding]:
    """Few packets that a port missed, by its last page; whether they still come, by the one
    before."""
    pages = [report for report in reports if report.tool == TOOL and _of(report, "packets missed")]
    if not pages:
        return
    lost, count = _of(pages[-1], "packets missed"), _of(pages[-1], "packets received")
    if not (lost and count and lost.is_positive):
        return
    share = lost.value / (lost.value + count.value)
    if FEW_LOST <= share < LEAST_LOST:
        before = _of(pages[-2], "packets missed") if len(pages) > 1 else None
        is_grown = before and before.value < lost.value
        words = {"before": before if is_grown else None, "per_million": 1e6 * share}
        yield finding("missed-few", words, lost=lost, count=count)


def _of_trex(report: Report) -> Iterator[Finding]:
    sent, got, lost = (_of(report, name) for name in ("sent", "received", "lost"))
    cpu, full = _of(report, "CPU"), _of(report, "packets without room")
    if cpu and full and cpu.value >= BUSY and full.is_positive:
        yield finding("generator-is-busy", cpu=cpu, full=full, sent=sent)
    if sent and lost and sent.is_positive and lost.value >= MISSING * sent.value:
        words: dict[str, Any] = {"sent": sent, "lost": lost, "share": lost.value / sent.value}
        words["got"] = got if got and got.is_positive else None
        kind = "lost-on-the-way" if words["got"] else "nothing-received"
        yield finding(kind, words, about=[lost])


@rule
def received_of_sent(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two ends that somebody shows one behind the other: what one sends and the other receives."""
    ends = [
        (send, receive)
        for report in reports
        if report.tool == TOOL
        if (send := _of(report, "send rate")) and (receive := _of(report, "receive rate"))
    ]
    for (sent, none), (nothing, got) in pairwise(ends):
        is_pair = none.value == 0 and nothing.value == 0 and sent.is_positive and got.is_positive
        if is_pair and got.value < (1 - MISSING) * sent.value:
            share = 1 - got.value / sent.value
            yield finding("received-of-sent", sent=sent, got=got, share=share)
            return


# What an Ethernet link carries of datagrams, at least and at most, as a part of its speed.
PART = (0.94, 0.993)
LINKS = {100e6: "100 Mbit/s", 1e9: "gigabit", 2.5e9: "2.5 Gbit/s", 10e9: "10 Gbit/s"}
ABOVE = 1.02  # sent ÷ received


@rule
def datagrams_fill_link(report: Report) -> Iterator[str]:
    """A note where datagrams arrive at the rate of a link, and more of them were sent."""
    if not list(over_udp([report])) or stays_in_host(report):
        return
    for ends in ends_of_transfer(report):
        sent, got = (ends.of(end, "throughput") for end in ("sender", "receiver"))
        if sent is None or got is None or not (sent.is_positive and got.is_positive):
            continue
        bits = 8 * (got.rate or 0.0)
        for speed, name in LINKS.items():
            if (
                PART[0] * speed <= bits <= PART[1] * speed
                and sent.base_value > ABOVE * got.base_value
            ):
                yield (
                    f"line {got.line}: {got.value:g} {got.unit} is what {name} Ethernet carries of "
                    f"datagrams at most, and {sent.value:g} {sent.unit} were sent (line "
                    f"{sent.line}). So most likely the link was full, and the rest was dropped "
                    "before it. Ask for less (-b)"
                )
                return


LEAST_LOSS = 1.0  # per cent


@rule
def loss_of_arrived(report: Report) -> Iterator[str]:
    """A note on losses next to a rate that the receiver counted, where no sender tells its own."""
    losses = [own for own in report.called("loss") if own.statistic == "total"]
    rates = [own for own in report.called("throughput") if own.statistic == "total"]
    if report.tool == "nuttcp" and losses and rates and losses[-1].value >= LEAST_LOSS:
        yield (
            f"line {losses[-1].line}: {losses[-1].value:g} % of the datagrams were lost. "
            f"{rates[-1].value:g} {rates[-1].unit} is what arrived, and more was sent"
        )


@rule
def threads_of_zero(report: Report) -> Iterator[Finding]:
    """A table of threads that all have a rate of 0 next to a total that is none."""
    threads = report.called("throughput of a thread")
    whole = report.only("throughput", "total")
    if threads and whole and whole.is_positive and all(own.value == 0 for own in threads):
        yield finding("threads-of-zero", first=threads[0], whole=whole)

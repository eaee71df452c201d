"""loopback, receiver-drop, sender-rate: what went over a network, and what of it arrived."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import bit_rate, count, share
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.addresses import (
    are_containers,
    is_loopback,
    stays_in_host,
    virtual_device,
)
from benchbook.explain.rules.common.base_units import in_base_units
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.transfer_ends import (
    Ends,
    counted_by_receivers,
    ends_of_streams,
    ends_of_transfer,
    met,
    over_udp,
)
from benchbook.explain.units import in_base
from benchbook.findings import Finding

BY_SIZE, BY_CUSTOM = 0.9, 0.75
LEAST_MSS = 16_000  # bytes: jumbo frames take 9,000 or so
OVER_INFINIBAND = range(65_400, 65_481)  # IP over InfiniBand has frames of 65,520


@rule
def loopback(report: Report) -> Iterator[Finding]:
    """A report whose figures are of one host talking to itself.

    Decided by the addresses of both ends, by the device, or by segments of a size that no wire
    takes. Virtual devices and containers beside each other do not leave it either.
    """
    if not report.results or report.facts.get("tunnelled"):
        return
    why, confidence = _stays(report)
    if why:
        names = ("near_address", "far_address", "device", "mss_bytes")
        evidence = [
            (name, report.facts[name], "", report.line) for name in names if name in report.facts
        ]
        totals = [result for result in report.results if result.statistic == "total"]
        about = totals[:3] or [report.results[0]]
        words = {"report": report, "why": why}
        yield finding("loopback", words, about=about, evidence=evidence, confidence=confidence)


def _stays(report: Report) -> tuple[str, float | None]:
    """Why it never left its host, and how sure that is where it is not certain; "" where it did."""
    near, far, mss = (report.facts.get(n) for n in ("near_address", "far_address", "mss_bytes"))
    if stays_in_host(report):
        if near and far and str(near) == str(far) and not is_loopback(near):
            return f"both ends are {near}, and what a host sends to itself goes over loopback", None
        if report.facts.get("device") == "lo":
            return "the device is lo", None
        own = next((address for address in (far, near) if address and is_loopback(address)), "")
        return f"the address {own} is the host itself", None
    if mss and mss >= LEAST_MSS and mss not in OVER_INFINIBAND:
        return f"its segments have {mss:,} bytes, and no network takes such frames", BY_SIZE
    if device := virtual_device(report):
        return f"both sides of {device}, a virtual device, are in one kernel", BY_CUSTOM
    if are_containers(report):
        return (
            "both ends have addresses of 172.17.0.0/24, which Docker gives to containers of "
            "one host: its bridge there leads to no other",
            BY_CUSTOM,
        )
    return "", None


AS_MANY = 0.02  # of lost ones: others may have lost some, too


def _least_missing() -> float:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.sender_rate import LEAST_MISSING

    return LEAST_MISSING


@rule
def receiver_drop(reports: list[Report]) -> Iterator[Finding]:
    """Datagrams that found no room in a socket are called lost in the network.

    Decided where no network was there to lose them, because both ends are on one host, or where the
    log shows that the kernel counted as many for which a socket had no room.
    """
    receivers = counted_by_receivers(reports)
    for report in over_udp(reports):
        lost = [result for ends in ends_of_transfer(report) for result in _lost(ends)]
        if not lost and (both := met(report, receivers)):
            lost = list(_missing(*both))
        if not lost:
            continue
        most, because = max(lost, key=lambda result: result.value), ""
        errors = report.facts.get("receive_buffer_errors")
        near = AS_MANY * most.value
        if is_number(errors) and is_number(most.value) and abs(errors - most.value) <= near:
            because = (
                f"the kernel counted {count(errors)} for which that socket had no room (line "
                f"{report.facts['receive_buffer_errors_in_line']})"
            )
        elif stays_in_host(report):
            because = "both ends are on one host, where no wire and no switch can lose any"
        if because:
            room = report.facts.get("socket_buffer_bytes")
            words: dict[str, Any] = {"lost": most, "because": because}
            words["buffer"] = f" of {format_bytes(int(room))}" if room else ""
            yield finding("receiver-drop", words)


def _lost(ends: Ends) -> Iterator[Result]:
    """What the receiver says that it lost; of one that only says what it got, what is missing."""
    said = [
        lost
        for name in ("lost datagrams", "dropped messages")
        for end in ("receiver", "")
        if (lost := ends.of(end, name))
    ]
    yield from (lost for lost in said if lost.value > 0)
    sent, got = ends.of("sender", "datagrams"), ends.of("receiver", "datagrams")
    if not said and sent and got:
        yield from _missing(sent, got)


def _missing(sent: Result, got: Result) -> Iterator[Result]:
    """What was not received of what was sent."""
    if 0 <= got.value < (1 - _least_missing()) * sent.value:
        lost = sent.value - got.value
        yield Result(f"lost {got.unit}", lost, got.unit, got.line, got.statistic)


RATES = ("transferred", "throughput")
IN_BUFFERS = 0.2  # of what was sent over TCP: more than the end of a test is worth
OF_RECEIVER = (*RATES, "loss", "messages")  # what tells that a receiver was asked


@rule
def sender_rate(reports: list[Report]) -> Iterator[Finding]:
    """What a sender handed over is called throughput, whether it arrived or not.

    Decided by what the other end got, where the log has it, or of datagrams by the losses that it
    told; a log of these that has nothing of the other end tells no throughput at all. Over TCP the
    rest was still on its way when a test ended, which matters where the test was short.
    """
    for report in reports:
        if report.facts.get("protocol") == "tcp":
            yield from _in_buffers(report)
    receivers = counted_by_receivers(reports)
    totals = [
        (report, whole := ends_of_transfer(report), any(map(_has_receiver, whole)))
        for report in over_udp(reports)
    ]
    roles = Counter(report.facts.get("role") for report, _, asked in totals if asked)
    for report, whole, asked in totals:
        # Of both ways, what came says nothing of what went.
        of_its_own = asked and "direction" not in report.columns
        seen_elsewhere = of_its_own or _is_other_end(report, roles, asked)
        if not whole and not seen_elsewhere and (rate := _last_interval(report)):
            yield finding("sender-alone", {"sent": rate, "rate": _said(rate)})
        for ends in whole:
            sent = ends.of("sender", "throughput")
            if sent is None or sent.value <= 0:
                continue
            arrived = None if _is_blank(ends) else _arrived(ends)
            if arrived is not None and arrived < 1 - _least_missing():
                yield _lost_rate(ends, sent, arrived)
            elif arrived is None and not seen_elsewhere:
                yield finding("sender-alone", {"sent": sent, "rate": _said(sent)})
            elif arrived is None and (both := met(report, receivers)):
                messages, got = both
                if got.value < (1 - _least_missing()) * messages.value:
                    arrived = got.value / messages.value
                    words: dict[str, Any] = {
                        "sent": sent,
                        "messages": messages,
                        "got": got,
                        "arrived": arrived,
                    }
                    words["rate"] = _said(sent)
                    about, evidence = [sent], [sent, messages, got]
                    factor = 1 / arrived if arrived else None
                    yield finding(
                        "sender-unmet", words, about=about, evidence=evidence, factor=factor
                    )


def _in_buffers(report: Report) -> Iterator[Finding]:
    """The stream of which least arrived before the sender stopped its clock."""
    late = []
    for ends in ends_of_streams(report):
        sent, got = (ends.of(end, "throughput") for end in ("sender", "receiver"))
        if sent is None or got is None or not 0 < got.value < math.inf:
            continue
        handed, arrived = (in_base_units(rate) for rate in (sent, got))
        if arrived < (1 - IN_BUFFERS) * handed < math.inf:
            late.append((arrived / handed, sent, got))
    if late:
        arrived, sent, got = min(late, key=lambda entry: entry[0])
        words: dict[str, Any] = {"sent": sent, "got": got, "arrived": arrived}
        words |= {"rate": _said(sent), "received": _said(got)}
        factor = 1 / arrived if arrived else None
        yield finding("in-buffers", words, about=[sent], evidence=[sent, got], factor=factor)


def _is_other_end(report: Report, roles: Counter[Any], asked: bool) -> bool:
    """Whether the other end may be another report in which a receiver told. `roles`: those of all
    of them (one server has several tests); `asked`: whether this report is one."""
    role, every = report.facts.get("role"), roles.total()
    return every > (asked if role is None else roles[role])


def _last_interval(report: Report) -> Result | None:
    """The last rate of a sender whose totals are cut off; None where the receiver tells too."""
    if any(result.of.get("end") == "receiver" for result in report.knowing("end")):
        return None
    rates = (rate for rate in reversed(report.called("throughput")) if rate.value > 0)
    return next((rate for rate in rates if rate.of.get("end") == "sender"), None)


def _is_blank(ends: Ends) -> bool:
    """Whether it has zeros of the receiver without a loss: nothing arrived, or the test was over
    before the receiver told."""
    got, lost = ends.of("receiver", "throughput"), ends.of("receiver", "lost datagrams")
    return got is not None and got.value == 0 and not (lost and lost.value)


def _has_receiver(ends: Ends) -> bool:
    if _is_blank(ends):
        return False
    told = (ends.of("receiver", name) for name in OF_RECEIVER)
    return any(result is not None and is_number(result.value) for result in told)  # no 0 of 0


def _arrived(ends: Ends) -> float | None:
    """The share of what was sent that arrived; None where nothing tells."""
    for name in RATES:
        sent, got = ends.of("sender", name), ends.of("receiver", name)
        if sent and got and sent.value > 0:
            # What is far less is printed in a smaller unit.
            (all_sent, unit), (arrived, of_it) = (
                in_base(result.value, result.unit) for result in (sent, got)
            )
            if unit == of_it:
                return arrived / all_sent
    rates = ends.of("sender", "throughput"), ends.of("receiver", "throughput")
    lost = ends.of("receiver", "loss")
    if None in rates and lost is not None and 0 <= lost.value <= 100:
        return 1 - lost.value / 100
    return None


def _said(rate: Result, share_of: float = 1.0) -> str:
    value = rate.value * share_of
    return bit_rate(value) if rate.unit == "bit/s" else f"{value:,.10g} {rate.unit}"


def _lost_rate(ends: Ends, sent: Result, arrived: float) -> Finding:
    lost = ends.of("receiver", "loss")
    got = ends.of("receiver", "throughput") or ends.of("receiver", "transferred")
    seen = f"no more than {share(arrived)} of it arrived"
    if got is not None:
        seen = f"the receiver got {_said(got)} (line {got.line}), {share(arrived)} of it"
    elif lost is not None:
        seen = (
            f"{lost.value:g} % of it was lost (line {lost.line}), so that at most "
            f"{_said(sent, arrived)} arrived"
        )
    evidence = [result for result in (sent, got, lost) if result is not None]
    words = {"sent": sent, "rate": _said(sent), "seen": seen}
    factor = 1 / arrived if arrived > 0 else None
    return finding("sender-lost", words, about=[sent], evidence=evidence, factor=factor)

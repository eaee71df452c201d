"""loopback, receiver-drop, sender-rate: what went over a network, and what of it arrived."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchbook.detect import detector
from benchbook.explain.addresses import (
    are_containers,
    is_loopback,
    stays_in_host,
    virtual_device,
)
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM, Command, Report, Result
from benchbook.explain.outlines import telling
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.transfer_ends import (
    Ends,
    counted_by_receivers,
    ends_of_streams,
    ends_of_transfer,
    met,
    over_udp,
)
from benchbook.explain.rules.common.transfer_parts import intervals_of
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
    if why and report.tool == "perftest":
        yield finding("adapter-loopback", about=report.results[:1], report=report)
    elif why:
        names = ("near_address", "far_address", "device", "mss_bytes")
        words = {name: report.facts.get(name) for name in names}
        totals = [result for result in report.results if result.statistic == "total"]
        about = totals[:3] or report.results[:1]
        words |= {"report": report, "begin": "likely" if confidence else "sure"}
        yield finding("loopback", words, about=about, confidence=confidence, why=why)


def _stays(report: Report) -> tuple[str, float | None]:
    """Why it never left its host (a phrase of the finding), and how sure that is where it is not
    certain; "" where it did."""
    near, far, mss = (report.facts.get(n) for n in ("near_address", "far_address", "mss_bytes"))
    if stays_in_host(report):
        if near and far and str(near) == str(far) and not is_loopback(near):
            return "same", None
        if report.facts.get("device") == "lo":
            return "lo", None
        return "far" if far and is_loopback(far) else "near", None
    if mss and mss >= LEAST_MSS and mss not in OVER_INFINIBAND:
        return "segments", BY_SIZE
    if virtual_device(report):
        return "virtual", BY_CUSTOM
    return ("containers", BY_CUSTOM) if are_containers(report) else ("", None)


AS_MANY = 0.02  # of lost ones: others may have lost some, too


def _least_missing() -> float:
    return float(detector("sender-rate").LEAST_MISSING)


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
        if is_number(errors) and most.is_number and abs(errors - most.value) <= near:
            because = "kernel"
        elif stays_in_host(report):
            because = "host"
        if because:
            words = {"errors": errors, "line": report.facts.get("receive_buffer_errors_in_line")}
            words["room"] = report.facts.get("socket_buffer_bytes") or None
            words["how"] = "counted" if because == "kernel" else "likely"
            yield finding("receiver-drop", words, lost=most, because=because)


def _lost(ends: Ends) -> Iterator[Result]:
    """What the receiver says that it lost; of one that only says what it got, what is missing."""
    losses = [
        lost
        for name in ("lost datagrams", "dropped messages")
        for end in ("receiver", "")
        if (lost := ends.of(end, name))
    ]
    yield from (lost for lost in losses if lost.value > 0)
    sent, got = ends.of("sender", "datagrams"), ends.of("receiver", "datagrams")
    if not losses and sent and got:
        yield from _missing(sent, got)


def _missing(sent: Result, got: Result) -> Iterator[Result]:
    """What was not received of what was sent."""
    if 0 <= got.value < (1 - _least_missing()) * sent.value:
        lost = sent.value - got.value
        yield Result(f"lost {got.unit}", lost, got.unit, got.line, got.statistic)


LOST = 0.05  # of an interval's datagrams
LEAST_INTERVALS, LONG_INTERVAL_S = 3, 5.0
FEW_TRIPS = 3.0  # that a transfer lasted: TCP starts with ten segments, and doubles them in each


@rule
def within_round_trips(report: Report) -> Iterator[Finding]:
    """A transfer over TCP that was over after a round trip or two, by what iperf3 says of both."""
    trips = [trip for trip in report.called("round trip") if trip.is_positive]
    totals = [
        (took, total)
        for total in report.called("throughput")
        if total.statistic == "total" and total.of.get("end") == "receiver"
        if is_number(took := total.of.get("elapsed_s")) and took > 0
    ]
    if trips and totals:
        trip = min(trips, key=lambda trip: trip.base_value)
        took, total = max(totals, key=lambda pair: pair[0])
        count = took / (trip.base_value / 1e9)
        if count <= FEW_TRIPS:
            yield finding(
                "within-round-trips", about=[total], total=total, trip=trip, took=took, trips=count
            )


@rule
def lost_in_intervals(report: Report) -> Iterator[Finding]:
    """Datagrams that the receiver's intervals lose, where the totals were cut off; a long interval
    alone is as good as a total."""
    if report.facts.get("protocol") != "udp":
        return
    losses = [loss for loss in report.called("loss") if loss.of.get("end") == "receiver"]
    is_long = len(losses) == 1 and any(
        rate.line == losses[0].line and rate.of.get("elapsed_s", 0.0) >= LONG_INTERVAL_S
        for rate in report.called("throughput")
    )
    if len(losses) < LEAST_INTERVALS and not is_long:
        return
    if any(loss.statistic == "total" for loss in losses):
        return
    ordered = sorted(losses, key=lambda loss: loss.value)
    middle = ordered[len(ordered) // 2]
    if middle.is_number and 100 * LOST <= middle.value < 100:
        lost = middle.value / 100
        words = {"middle": middle, "arrived": 1 - lost, "count": None if is_long else len(losses)}
        words["line"] = middle.line if is_long else None
        got = {
            rate.line: rate
            for rate in report.called("throughput")
            if rate.of.get("end") == "receiver" and rate.is_positive
        }
        words["got"] = own = got.get(middle.line)
        words["sent_mbit"] = own.base_value / (1 - lost) / 1e6 if own else None
        words |= {"begin": None, "free": None}
        if losses[0].value == 0 and losses[0].line in got and min(_losses(losses[1:])) >= 5:
            words |= {"begin": losses[1], "free": got[losses[0].line]}
        yield finding("intervals-lost", words)


def _losses(losses: Sequence[Result]) -> list[float]:
    return [loss.value for loss in losses] or [0.0]


@rule
def stalled(report: Report) -> Iterator[Finding]:
    """Intervals of a TCP transfer in which nothing moved."""
    if report.facts.get("protocol") == "udp":
        return
    intervals = [rate for rate in report.called("throughput") if rate.statistic == "interval"]
    none = [rate for rate in intervals if rate.value == 0]
    moving = [rate for rate in intervals if rate.is_positive]
    if len(none) > 1 and moving and len(intervals) >= LEAST_INTERVALS:
        again = [count for count in report.called("retransmits") if count.value > 0]
        asked = option(Command(report.line, report.asked), "-b", "--bandwidth", "--bitrate")
        if asked and asked != "0" and not again:
            words = {"none": len(none), "all": len(intervals), "asked": asked, "first": none[0]}
            yield finding("paced-blocks", words, about=none)
            return
        words = {"none": len(none), "all": len(intervals), "first": none[0]}
        is_counted = len(report.called("retransmits")) >= len(intervals) and not again
        words["none_again"] = "No segment" if is_counted else None
        yield finding("nothing-moved", words, about=none, again=len(again) or None)


GIGABIT = (0.992e9, 1.03e9)  # above what gigabit Ethernet carries of TCP, also in jumbo frames


@rule
def above_gigabit(reports: list[Report]) -> Iterator[str]:
    """A note for TCP at a gigabit per second: the wire of that name carries less."""
    for _, rate in telling(reports, _above_gigabit)[:1]:
        yield (
            f"line {rate.line}: {rate.value:g} {rate.unit} is more than gigabit Ethernet "
            "carries over TCP (941 Mbit/s). So the path is another one, or software sets "
            "this rate: a virtual network, a shaper or a policer"
        )


def _above_gigabit(report: Report) -> Result | None:
    if report.facts.get("protocol") == "udp" or "link_bits_per_s" in report.facts:
        return None
    for rate in report.called("throughput"):
        if rate.statistic == "total" and GIGABIT[0] <= 8 * (rate.rate or 0.0) <= GIGABIT[1]:
            return rate
    return None


SEGMENT_BYTES = 1448  # of TCP with time stamps in frames of 1500
LEAST_AGAIN, MANY_AGAIN = 1e-3, 5e-3  # of all segments
LEAST_SEGMENTS = 20


@rule
def resent(reports: list[Report]) -> Iterator[Finding | str]:
    """Segments of TCP that were sent again: a note where some were, a finding where the losses are
    so many that they make the rate on any path but the shortest.

    Decided by the totals of one direction. How many segments there were follows from the bytes;
    larger frames make the share larger still.
    """
    lost = [own for _, own in telling(reports, _resent)]
    if not lost:
        return
    share, again, words = max(lost, key=lambda own: own[0])
    if share >= MANY_AGAIN:
        about = [own["again"] for _, _, own in lost]
        yield finding("resent", words, about=about, share=share)
    else:
        yield (
            f"{words['place']}: {again.value:,.0f} segments were sent again, about "
            f"{100 * share:.2g} % of all; packets were lost on the path, or came out of order"
        )


def _resent(report: Report) -> tuple[float, Result, dict[str, Any]] | None:
    """The share that was sent again, its count, and the words of a finding; None where few were."""
    if report.facts.get("protocol") == "udp" or stays_in_host(report):
        return None
    totals = [again for again in report.called("retransmits") if again.statistic == "total"]
    sums = [again for again in totals if str(again.of.get("stream")).startswith(SUM)] or totals
    if not totals:
        return _resent_in_intervals(report)
    for again in sums[:1]:
        of_line = {own.name: own for own in report.being("total") if own.line == again.line}
        moved, rate = of_line.get("transferred"), of_line.get("throughput")
        if moved is None or rate is None or not (moved.is_positive and again.is_number):
            continue
        share = again.value * SEGMENT_BYTES / moved.base_value
        if again.value < LEAST_SEGMENTS or not LEAST_AGAIN <= share < 1:
            continue
        windows = [own for own in report.called("congestion window") if own.is_positive]
        least = min(windows, key=lambda own: own.base_value) if windows else None
        words = {"again": again, "moved": moved, "rate": rate, "least": least}
        return share, again, words | {"place": f"line {again.line}"}
    return None


LEAST_MOVED_BYTES = 1e8


def _resent_in_intervals(report: Report) -> tuple[float, Result, dict[str, Any]] | None:
    """The share, the count and the words of a finding, by the intervals of the first stream: for a
    transfer whose totals were cut off. The count is of all of them, in the line of the last."""
    own = next(iter(intervals_of(report, "retransmits").values()), [])
    lines = {again.line for again in own}
    pairs = [[each for each in report.called(name) if each.line in lines] for name in RATES]
    if not own or not all(pairs) or any(len(each) != len(own) for each in pairs):
        return None
    last, count = own[-1], sum(again.value for again in own)
    moved_bytes = sum(moved.base_value for moved in pairs[0])
    share = count * SEGMENT_BYTES / moved_bytes if moved_bytes > 0 else 0.0
    is_told = count >= LEAST_SEGMENTS and LEAST_AGAIN <= share < 1
    if not is_told or moved_bytes < LEAST_MOVED_BYTES:
        return None
    again = replace(last, value=count)
    moved = Result("transferred", moved_bytes / 2**20, "MiB", last.line, "total")
    words = {"again": again, "moved": moved, "rate": pairs[1][-1], "least": None}
    first = own[0].line
    place = f"line {first}" if first == last.line else f"lines {first} to {last.line}"
    return share, again, words | {"place": place}


RATES = ("transferred", "throughput")
IN_BUFFERS = 0.2  # of what was sent over TCP: more than the end of a test is worth
IN_SHORT, SHORT_S = 0.07, 2.0  # of a short test, in which the buffers are a larger part
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
    roles = Counter(report.facts.get("role") for report, _, has_receiver in totals if has_receiver)
    for report, whole, has_receiver in totals:
        # Of both ways, what came says nothing of what went.
        of_its_own = has_receiver and "direction" not in report.columns
        seen_elsewhere = of_its_own or _is_other_end(report, roles, has_receiver)
        seen_elsewhere = seen_elsewhere or "torn_in_line" in report.facts
        if not whole and not seen_elsewhere and (rate := _last_interval(report)):
            yield finding("sender-alone", sent=rate)
        for ends in whole:
            sent = ends.of("sender", "throughput")
            if sent is None or sent.value <= 0:
                continue
            arrived = None if _is_blank(ends) else _arrived(ends)
            if arrived is not None and arrived < 1 - _least_missing():
                yield _lost_rate(ends, sent, arrived)
            elif arrived is None and not seen_elsewhere:
                yield finding("sender-alone", sent=sent)
            elif arrived is None and (both := met(report, receivers)):
                messages, got = both
                if got.value < (1 - _least_missing()) * messages.value:
                    arrived = got.value / messages.value
                    words = {"sent": sent, "messages": messages, "got": got, "arrived": arrived}
                    yield finding("sender-unmet", words, factor=1 / arrived if arrived else None)


def _in_buffers(report: Report) -> Iterator[Finding]:
    """The stream of which least arrived before the sender stopped its clock."""
    late = []
    for ends in ends_of_streams(report):
        sent, got = (ends.of(end, "throughput") for end in ("sender", "receiver"))
        if sent is None or got is None or not 0 < got.value < math.inf:
            continue
        handed, arrived = (rate.base_value for rate in (sent, got))
        took = sent.of.get("elapsed_s")
        is_short = is_number(took) and 0 < took <= SHORT_S
        if arrived < (1 - (IN_SHORT if is_short else IN_BUFFERS)) * handed < math.inf:
            late.append((arrived / handed, sent, got))
    if late:
        arrived, sent, got = min(late, key=lambda entry: entry[0])
        words: dict[str, Any] = {"sent": sent, "got": got, "arrived": arrived}
        took = sent.of.get("elapsed_s")
        words["took"] = took if is_number(took) and took <= SHORT_S else None
        yield finding("in-buffers", words, factor=1 / arrived if arrived else None)


def _is_other_end(report: Report, roles: Counter[Any], has_receiver: bool) -> bool:
    """Whether the other end may be another report in which a receiver told. `roles`: those of all
    of them (one server has several tests); `has_receiver`: whether this report is one."""
    role, every = report.facts.get("role"), roles.total()
    return every > (has_receiver if role is None else roles[role])


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
    received = (ends.of("receiver", name) for name in OF_RECEIVER)
    return any(result is not None and result.is_number for result in received)  # no 0 of 0


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
    if None in rates and (counts := _counts(ends)):
        return 1 - counts[0].value / counts[1].value
    lost = ends.of("receiver", "loss")
    if None in rates and lost is not None and 0 <= lost.value <= 100:
        return 1 - lost.value / 100
    return None


def _counts(ends: Ends) -> tuple[Result, Result] | None:
    """Lost datagrams and all of them, which tell more than a rounded share of them."""
    lost, every = ends.of("receiver", "lost datagrams"), ends.of("receiver", "datagrams")
    if lost is None or every is None or not 0 <= lost.value <= every.value or every.value == 0:
        return None
    return lost, every


def _lost_rate(ends: Ends, sent: Result, arrived: float) -> Finding:
    lost, counts = ends.of("receiver", "loss"), _counts(ends)
    got = ends.of("receiver", "throughput") or ends.of("receiver", "transferred")
    words = {"sent": sent, "got": got, "lost": lost, "arrived": arrived}
    words["rest"] = replace(sent, value=float(f"{sent.value * arrived:.4g}"))
    words["count"], words["every"] = counts or (None, None)
    why = next(
        (
            phrase
            for phrase, known in (("got", got), ("counts", counts), ("share", lost))
            if known is not None
        ),
        "arrived",
    )
    return finding("sender-lost", words, why=why, factor=1 / arrived if arrived > 0 else None)


LEAST_ROWS, SAME_OF_ROWS, OTHERS_APART, NEAR_ROUND = 4, 1.001, 2.0, 1e-3


@rule
def rates_of_tables(report: Report) -> Iterator[str]:
    """Notes for a table of rates: through the loopback device, and of datagrams that are the same
    in every row, which is what was asked for."""
    if report.tool != "table":
        return
    columns = [
        [own for own in several if own.is_positive]
        for several in grouped(_of_bits(report), lambda own: own.name).values()
    ]
    columns = [own for own in columns if own]
    for own in columns:
        if _LOOPBACK.search(own[0].name):
            yield (
                f"line {own[0].line}: {own[0].value:g} {own[0].unit} through the loopback device. "
                "No network is in it: the CPU and the memory of one host make this rate"
            )
            break
    spans = [max(_in_bytes(own)) / min(_in_bytes(own)) for own in columns if len(own) >= LEAST_ROWS]
    for own in columns:
        is_datagrams = "udp" in own[0].name.lower() and len(own) >= LEAST_ROWS
        if not is_datagrams or max(_in_bytes(own)) > SAME_OF_ROWS * min(_in_bytes(own)):
            continue
        if max(spans) >= OTHERS_APART and _is_round(max(_in_bytes(own))):
            yield (
                f"line {own[0].line}: all {len(own)} rows have the same {own[0].value:,.5g} "
                f"{own[0].unit} of datagrams, where their other rates differ {max(spans):.2g} "
                "times. That is the rate the sender was asked for, and no limit that was found"
            )
            break


_LOOPBACK = late(r"\b(?:loopback|localhost|127\.0\.0\.1)\b", re.IGNORECASE)


def _of_bits(report: Report) -> list[Result]:
    return [own for own in report.results if own.unit.endswith("bit/s")]


def _in_bytes(column: Sequence[Result]) -> list[float]:
    """The rates of a column in one unit."""
    return [own.rate or own.base_value for own in column]


def _is_round(rate: float) -> bool:
    """Whether a rate is one that somebody asks for: one digit and noughts, in bits."""
    bits = 8 * rate
    step = 10.0 ** math.floor(math.log10(bits))
    return any(abs(bits / step - whole) <= NEAR_ROUND * whole for whole in (*range(1, 11), 2.5))

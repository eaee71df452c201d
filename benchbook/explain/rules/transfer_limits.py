"""resent, window-bound, cpu-bound, asked-rate, packet-rate, fragments: what holds the rate of a
transfer, as far as its own lines show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from benchbook.core.number_format import number
from benchbook.explain.addresses import is_near, stays_in_host
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM, Command, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.transfer_parts import intervals_of
from benchbook.findings import Finding

IPERFS = ("iperf", "iperf3")
OTHERS = ("netperf", "qperf", "speedtest", "nuttcp", "ntttcp")
LEAST_INTERVALS = 4
ONE_SEGMENT_BYTES = 1500  # of the congestion window: TCP has a single segment under way
MOST_OF = 0.6  # of the intervals
STUCK_BITS_PER_S = 5e6
LEAST_CUT = 5  # segments sent again in an interval
CUT, SLOWER = 0.5, 0.93  # of the interval before: its window, its rate


class _Interval(NamedTuple):
    """One interval of a stream that sends over TCP."""

    rate: Result
    again: Result
    window: Result


def _intervals(report: Report) -> list[_Interval]:
    """The intervals of the first stream that has windows, in their order."""
    for owner, windows in intervals_of(report, "congestion window").items():
        by_line = [
            {own.line: own for own in intervals_of(report, name).get(owner, [])}
            for name in ("throughput", "retransmits")
        ]
        if owner[0] != SUM and all(all(own.line in each for each in by_line) for own in windows):
            return [_Interval(by_line[0][own.line], by_line[1][own.line], own) for own in windows]
    return []


def _segment_bytes(report: Report) -> float:
    """The largest segment: as the tool says or was told, else that of Ethernet."""
    asked = option(Command(report.line, report.asked), "-M", "--set-mss", "--mss")
    sizes = [float(asked)] if asked.isdecimal() and len(asked) < 6 else []
    mss = report.facts.get("mss_bytes")
    return max([*sizes, float(mss) if is_number(mss) else 0.0, ONE_SEGMENT_BYTES])


def _is_stuck(intervals: Sequence[_Interval], segment: float) -> bool:
    small = [each for each in intervals if each.window.base_value <= segment]
    slow = [each for each in intervals if 8 * (each.rate.rate or 0.0) <= STUCK_BITS_PER_S]
    again = sum(each.again.value for each in intervals)
    return min(len(small), len(slow)) >= MOST_OF * len(intervals) and again > 1


@rule
def window_of_losses(report: Report) -> Iterator[Finding]:
    """Losses that cut TCP's congestion window, and the rate with it.

    Decided by the intervals: one with segments sent again has half of the window before it or less,
    and the rate falls. Where the window stays at one segment, each resent one was lost again.
    """
    intervals = _intervals(report)
    if len(intervals) >= LEAST_INTERVALS and _is_stuck(intervals, _segment_bytes(report)):
        worst = min(intervals, key=lambda each: each.window.base_value)
        again = int(sum(each.again.value for each in intervals))
        words = {"window": worst.window, "rate": worst.rate, "again": again}
        yield finding("single-segment", words, count=len(intervals))
        return
    cuts = [
        (before, after, slow)
        for before, after, later in zip(
            intervals, intervals[1:], [*intervals[2:], None], strict=False
        )
        for slow in [min((after, later or after), key=lambda each: each.rate.base_value)]
        if after.again.value >= LEAST_CUT
        and after.window.base_value <= CUT * before.window.base_value
        and slow.rate.base_value <= SLOWER * before.rate.base_value
    ]
    if cuts and not stays_in_host(report):
        before, after, slow = max(
            cuts, key=lambda cut: cut[0].window.base_value / max(1.0, cut[1].window.base_value)
        )
        words = {"before": before.window, "window": after.window, "again": int(after.again.value)}
        words |= {"fast": before.rate, "slow": slow.rate, "left": len(cuts) - 1 or None}
        yield finding("window-cut", words, about=[slow.rate, after.window])


STEADY_WINDOW, STEADY_RATE = 1.02, 1.35  # largest ÷ smallest, behind the first interval
LEAST_TRIP_S = 0.02  # no network of one site has such a round trip
SAME_TRIP = (0.75, 1.4)  # a round trip that ping shows ÷ what the window makes of the rate


@rule
def window_bound(reports: list[Report]) -> Iterator[Finding | str]:
    """A window that stands still without losses, on a long way: it may be what holds the rate.

    Decided by window, rate and the round trip that ping shows in the same log: their product is the
    window where that is the limit. Without the round trip both answers are said, and what decides.
    """
    trips = [
        trip.base_value / 1e9
        for report in reports
        if report.tool in ("ping", "fping")
        for trip in report.called("round trip")
        if trip.statistic in ("mean", "median") and trip.is_positive
    ]
    for report in reports:
        steady = _intervals(report)[1:]
        if len(steady) < LEAST_INTERVALS or any(each.again.value for each in steady):
            continue
        windows = [each.window.base_value for each in steady]
        rates = [each.rate.rate or 0.0 for each in steady]
        if max(windows) > STEADY_WINDOW * min(windows) or max(rates) > STEADY_RATE * min(rates):
            continue
        middle = sorted(rates)[len(rates) // 2]
        if fills_link(8 * middle):
            continue
        needs_s = windows[-1] / middle if middle > 0 else 0.0
        fits = (
            [trip for trip in trips if SAME_TRIP[0] <= trip / needs_s <= SAME_TRIP[1]]
            if (needs_s)
            else []
        )
        words: dict[str, Any] = {"window": steady[-1].window, "rate": steady[-1].rate}
        words |= {"count": len(steady), "needs_s": needs_s}
        if len(set(trips)) == 1 and fits:
            yield finding("window-holds", words, trip=fits[0], about=[steady[-1].rate])
        elif not trips and needs_s >= LEAST_TRIP_S and not is_near(report):
            window, rate = steady[-1].window, steady[-1].rate
            yield (
                f"line {window.line}: the window stays at {window.value:g} {window.unit} with no "
                f"segment sent again. If ping shows a round trip of about {1e3 * needs_s:.0f} ms "
                f"or more, it holds the rate of {rate.value:g} {rate.unit}, mostly by too small "
                "socket buffers. If ping shows far less, the rest may wait in a queue"
            )


QUEUE_S = 0.8  # of data under way: no way on Earth is as long, and a satellite's is shorter


@rule
def window_in_queue(report: Report) -> Iterator[str]:
    """A note for a window that, without a loss, holds far more than the rate moves in any round
    trip: most of it waits in a queue."""
    calm = [each for each in _intervals(report)[1:] if each.rate.is_positive]
    if len(calm) < LEAST_INTERVALS or any(each.again.value for each in calm):
        return
    rates = sorted(each.rate.rate or 0.0 for each in calm)
    middle = rates[len(rates) // 2]
    last = max(calm, key=lambda each: each.window.base_value)
    waits_s = last.window.base_value / middle
    is_paced = option(Command(report.line, report.asked), "-b", "--bitrate", "--bandwidth")
    if waits_s >= QUEUE_S and not stays_in_host(report) and is_paced in ("", "0"):
        yield (
            f"line {last.window.line}: TCP lets {last.window.value:g} {last.window.unit} be under "
            f"way without a loss, {number(waits_s)} s of data at the usual rate. No way on Earth "
            "is as long. If it is used, most of it waits in a queue before a slow link "
            "(bufferbloat)"
        )


BUSY, RATHER_BUSY = 95.0, 70.0  # per cent of a core
FULL = 90.0  # of the core that submits: what interrupts and the hypervisor take comes on top
SUMMED = 110.0  # above it no job of one core: some systems add up those of a group


@rule
def end_is_busy(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """An end of a transfer that uses all of a core; a note where it is most of one."""
    busy = [
        own
        for report in reports
        for own in (report.called("CPU") if report.tool == "iperf3" else ())
        if own.value >= RATHER_BUSY and own.is_number
    ]
    if not busy:
        return
    most = max(busy, key=lambda own: own.value)
    end = most.of.get("end") or "end"
    if most.value >= BUSY:
        yield finding("end-is-busy", most=most, end=end)
    else:
        yield (
            f"line {most.line}: the {end} used {most.value:g} % of a core, and what interrupts "
            "use comes on top. A rate below the link's may be the rate of that core"
        )


@rule
def job_is_busy(report: Report) -> Iterator[Finding]:
    """A job of fio that uses all of the core that it submits from."""
    user, system = (report.facts.get(f"cpu_{name}_percent") for name in ("user", "system"))
    if (
        report.tool == "fio"
        and is_number(user)
        and is_number(system)
        and FULL <= user + system <= SUMMED
    ):
        words = {"user": user, "system": system, "line": report.facts["cpu_line"]}
        yield finding("job-is-busy", words, about=[f"line {words['line']}: cpu"])


DEFAULT_BITS_PER_S = (0.99e6, 1.061e6)  # of UDP without -b: 1 Mbit/s, of iperf 2 times 1.05
_BITS = late(r"^(\d+(?:\.\d+)?)([kKmMgG]?)(?:bits?|b)?(?:/\d+)?$", re.I)
_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
AS_ASKED, BEHIND = 0.02, 0.95
MANY_LOST = 5.0  # per cent


@rule
def rate_as_asked(report: Report) -> Iterator[Finding | str]:
    """Datagrams at the rate that the command asked for, or at iperf's own where it asked for none.

    Decided by the rate and the command; without the command by iperf's own rate alone. Where the
    sender stays far below what was asked, it cannot send as fast.
    """
    if report.tool not in IPERFS or report.facts.get("protocol") != "udp":
        return
    sent = _sent(report)
    if sent is None or not sent.rate:
        return
    bits = 8 * sent.rate
    is_command = any(word.rpartition("/")[2].startswith("iperf") for word in report.asked[:6])
    is_command = is_command and any(word.startswith(("-c", "--client")) for word in report.asked)
    command = Command(report.line, report.asked)
    asked = option(command, "-b", "--bandwidth", "--bitrate") if is_command else ""
    parallel = option(command, "-P", "--parallel") if is_command else ""
    several = int(parallel) if parallel.isdecimal() else report.facts.get("streams") or 1
    streams = max(1, several) if str(sent.of.get("stream")).startswith(SUM) else 1
    lost = max((own.value for own in report.called("loss") if own.is_number), default=0.0)
    is_default = DEFAULT_BITS_PER_S[0] <= bits / streams <= DEFAULT_BITS_PER_S[1]
    if is_default and not asked and is_command and sent.statistic == "total":
        yield finding("default-rate", sent=sent, streams=streams)
        return
    if is_default and not asked and lost < MANY_LOST:
        yield (
            f"line {sent.line}: {sent.value:g} {sent.unit} is the rate at which iperf sends "
            "datagrams where no -b asks for another, and then no capacity of the path"
        )
    found = _BITS.match(asked) if asked else None
    wanted = float(found[1]) * _SIZES[found[2].lower()] * streams if found else 0.0
    if not wanted:
        return
    if bits < BEHIND * wanted and sent.statistic == "total":
        yield finding("below-asked", sent=sent, asked=asked, part=bits / wanted)
    elif abs(bits / wanted - 1) <= AS_ASKED and lost < MANY_LOST:
        yield (
            f"line {sent.line}: {sent.value:g} {sent.unit} is the rate that -b {asked} asked for. "
            "The path may carry more"
        )


def _sent(report: Report) -> Result | None:
    """The rate at which all streams sent: of the whole, else of the last interval."""
    rates = [rate for rate in report.called("throughput") if rate.of.get("end") == "sender"]
    whole = [rate for rate in rates if rate.statistic == "total"] or rates
    sums = [rate for rate in whole if str(rate.of.get("stream")).startswith(SUM)]
    several = sums or whole
    return several[-1] if several else None


SMALL_BYTES, MANY_PER_S = 600, 50_000
FRAME_BYTES = 1472  # of a datagram in a frame of 1500
LEAST_LOST = 1.0  # per cent


@rule
def datagram_size(report: Report) -> Iterator[Finding]:
    """Datagrams so small that their number is the limit, or larger than a frame and lost.

    Decided by the bytes over the count of datagrams, or by the size that the tool prints.
    """
    if report.tool not in IPERFS or report.facts.get("protocol") != "udp":
        return
    totals = report.being("total")
    lines = {own.line: own for own in totals if own.name == "transferred"}
    rates = {own.line: own for own in totals if own.name == "throughput"}
    for count in report.called("datagrams"):
        moved, rate = lines.get(count.line), rates.get(count.line)
        took = (rate.of.get("elapsed_s") if rate else None) or count.of.get("elapsed_s")
        if count.statistic != "total" or moved is None or rate is None or not count.is_positive:
            continue
        if not (moved.is_number and rate.is_number):
            continue
        sizes = _datagram_sizes(report, moved, count)
        if not took and rate.rate:
            took = moved.base_value / rate.rate
        per_s = count.value / took if took else 0.0
        lost = [own for own in report.called("loss") if own.statistic == "total" and own.is_number]
        most = max(lost, key=lambda own: own.value) if lost else None
        words = {"count": count, "size": _in_words(sizes), "per_s": per_s, "rate": rate}
        if sizes[1] <= SMALL_BYTES and per_s >= MANY_PER_S:
            yield finding("small-datagrams", words, about=[rate])
        elif sizes[0] > FRAME_BYTES + 28 and most and most.value >= LEAST_LOST:
            pieces = sorted({-(-int(end + HEAD_BYTES) // OF_FRAME_BYTES) for end in sizes})
            words["pieces"] = " or ".join(map(str, pieces))
            yield finding("in-pieces", words, about=[most], lost=most)
        return


HEAD_BYTES, OF_FRAME_BYTES = 8, 1480  # of UDP; of a datagram in a frame of 1500
SURE_DIGITS, ALIKE = 3, 1.05


def _datagram_sizes(report: Report, moved: Result, count: Result) -> tuple[float, float]:
    """The least and the most bytes of a datagram: as the tool or its command says, else as the
    digits of all bytes and their number make it. A receiver's bytes may be all of them, or those
    of what came."""
    if is_number(said := report.facts.get("message_bytes")):
        return float(said), float(said)
    half = max(moved.base_half, moved.base_value * 10.0**-SURE_DIGITS / 2)
    lost = [own.value for own in report.called("lost datagrams") if own.line == count.line]
    came = count.value - (lost[0] if lost and moved.of.get("end") == "receiver" else 0.0)
    least = (moved.base_value - half) / count.value
    most = (moved.base_value + half) / (came if came > 0 else count.value)
    asked = option(Command(report.line, report.asked), "-l", "--len", "--length")
    if asked.isdecimal() and least <= float(asked) <= most:
        return float(asked), float(asked)
    return least, most


def _in_words(sizes: tuple[float, float]) -> str:
    """A size in bytes: with all digits where it is known, else rounded."""
    if sizes[0] == sizes[1]:
        return f"{sizes[0]:,.0f} bytes"
    if sizes[1] > ALIKE * sizes[0]:
        return f"{number(sizes[0])} to {number(sizes[1])} bytes"
    return f"about {number(sum(sizes) / 2)} bytes"


SHORT_S, RISES = 5.0, 1.04


@rule
def still_rising(report: Report) -> Iterator[Finding]:
    """A short test over TCP that ended while its rate still rose from interval to interval."""
    totals = [rate for rate in report.called("throughput") if rate.statistic == "total"]
    whole = [rate for rate in totals if 0 < (rate.of.get("end_s") or 0.0) <= SHORT_S] or [
        rate for rate in totals if 0 < (rate.of.get("elapsed_s") or 0.0) <= SHORT_S
    ]
    if report.facts.get("protocol") != "tcp" or not whole:
        return
    for own in intervals_of(report, "throughput").values():
        values = [rate.base_value for rate in own]
        if len(values) > 2 and all(RISES * before <= after for before, after in pairwise(values)):
            yield finding("still-rising", first=own[0], last=own[-1], whole=whole[-1])
            return


ENDED = 0.7  # of the time that was asked for


@rule
def ended_early(report: Report) -> Iterator[Finding]:
    """A test that ended long before the time that its command asked for.

    Decided by the time of its figures, where the command starts the program that prints them, and
    the rate is not above the one that it asks for.
    """
    if report.tool not in ("netperf", *IPERFS):
        return
    if not any(word.rpartition("/")[2] == report.tool for word in report.asked[:6]):
        return
    names = ("-l", "--testlen") if report.tool == "netperf" else ("-t", "--time")
    text = option(Command(report.line, report.asked), *names)
    wanted = float(text) if text.isdecimal() else 0.0
    figures = [own for own in report.being("total") if is_number(own.of.get("elapsed_s"))]
    if figures and wanted:
        last = max(figures, key=lambda own: own.of["elapsed_s"])
        if last.of["elapsed_s"] < ENDED * wanted:
            words = {"took": last.of["elapsed_s"], "wanted": wanted}
            yield finding("ended-early", words, figure=last)


APART = 1.5


@rule
def directions_apart(reports: list[Report]) -> Iterator[Finding]:
    """Tests over TCP to one host, one as it stands and one reversed, at different rates."""
    whole: dict[object, dict[bool, Result]] = {}
    for report in reports:
        host = report.facts.get("far_host") or report.facts.get("far_address")
        if report.tool != "iperf3" or report.facts.get("protocol") != "tcp" or not host:
            continue
        rates = [rate for rate in report.called("throughput") if rate.statistic == "total"]
        sums = [rate for rate in rates if rate.of.get("stream") == SUM] or rates
        got = [rate for rate in sums if rate.of.get("end") == "receiver"] or sums
        if got and (len(rates) <= 2 or sums is not rates):
            whole.setdefault(host, {}).setdefault(bool(report.facts.get("reverse")), got[-1])
    for both in whole.values():
        if len(both) == 2 and all(rate.is_positive for rate in both.values()):
            slow, fast = sorted(both.values(), key=lambda rate: rate.base_value)
            ratio = fast.base_value / slow.base_value
            if ratio >= APART:
                way = "the server sends" if slow is both[True] else "the client sends"
                yield finding("directions-apart", slow=slow, fast=fast, ratio=ratio, way=way)
                return


STANDARD_BITS_PER_S = (1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11)
FULL_LINK = (0.93, 0.995)  # of the bits of a link are payload, in frames of 1500 and of 9000 bytes


def fills_link(bits_per_s: float) -> bool:
    """Whether a rate over TCP is as much as Ethernet of some speed carries: then the link may be
    what holds it, and no other cause is certain."""
    return any(FULL_LINK[0] <= bits_per_s / speed <= FULL_LINK[1] for speed in STANDARD_BITS_PER_S)


JUMBO_BITS_PER_S = (951e6, 991e6)  # more than gigabit Ethernet carries in frames of 1500
# What Ethernet carries of TCP at most, in frames of 1500 and of 9000, by the speed of the link.
OF_LINKS = {
    100e6: (91.3e6, 95.9e6, "100 Mbit/s Ethernet"),
    1e9: (913e6, 950e6, "gigabit Ethernet"),
    2.5e9: (2.28e9, 2.38e9, "2.5 Gbit/s Ethernet"),
    10e9: (9.13e9, 9.5e9, "10 Gbit/s Ethernet"),
}


@rule
def link_is_full(report: Report) -> Iterator[str]:
    """A note for a rate over TCP that is as much as an Ethernet link of some speed carries."""
    if report.facts.get("protocol") == "udp" or stays_in_host(report):
        return
    if "link_bits_per_s" in report.facts:
        return
    whole = "mean" if report.tool == "speedtest" else "total"
    rates = [rate for rate in report.called("throughput") if rate.statistic == whole]
    sums = [rate for rate in rates if str(rate.of.get("stream")).startswith(SUM)] or rates
    if report.tool == "speedtest":
        sums.sort(key=lambda rate: rate.base_value)
    for rate in sums[-1:] if report.tool in (*IPERFS, *OTHERS) else []:
        bits = 8 * (rate.rate or 0.0)
        if JUMBO_BITS_PER_S[0] <= bits <= JUMBO_BITS_PER_S[1]:
            yield (
                f"line {rate.line}: {rate.value:g} {rate.unit} is more than gigabit Ethernet "
                "carries over TCP in frames of 1500 bytes (949 Mbit/s). So the path has jumbo "
                "frames, or software sets this rate: a virtual network, a shaper or a policer"
            )
        for speed, (least, most, name) in OF_LINKS.items():
            if least <= bits <= most:
                more = (
                    ". If both ends have faster ports, one of them or the cable fell back to it "
                    "(ethtool shows the speed)"
                    if speed < 1e9
                    else ""
                )
                yield (
                    f"line {rate.line}: {rate.value:g} {rate.unit} is about as much as {name} "
                    f"carries over TCP{more}"
                )

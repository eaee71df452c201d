"""window-bound, mtu: what windows, round trips and segments of TCP make of a rate, across tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from benchbook.explain.addresses import stays_in_host
from benchbook.explain.model import SUM, Command, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.transfer_parts import intervals_of
from benchbook.explain.rules.transfer_limits import fills_link
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

LEAST_INTERVALS = 4
VARIES, FOLLOWS = 1.2, 1.3  # largest ÷ smallest window; of the rate over the window
STEADY_TRIP, LEAST_TRIP_S = 1.6, 3e-3
FITS = (0.6, 1.5)  # window ÷ round trip, of the rate


@rule
def rate_follows_window(report: Report) -> Iterator[Finding]:
    """A rate that goes up and down with TCP's window, at one round trip: the window holds it.

    Decided by windows, rates and round trips that the tool prints. A full link shows a round trip
    that grows with the window instead.
    """
    trips = [
        own.base_value / 1e9
        for own in report.called("round trip")
        if own.statistic in ("sample", "interval") and own.is_positive
    ]
    pairs = _windows(report)
    if len(trips) < LEAST_INTERVALS or len(pairs) < LEAST_INTERVALS or stays_in_host(report):
        return
    if max(trips) > STEADY_TRIP * min(trips) or min(trips) < LEAST_TRIP_S:
        return
    windows = [window.base_value for _, window in pairs]
    ratios = [(rate.rate or 0.0) / window.base_value for rate, window in pairs]
    trip = sorted(trips)[len(trips) // 2]
    middle = sorted(ratios)[len(ratios) // 2] * trip
    if max(windows) < VARIES * min(windows) or not FITS[0] <= middle <= FITS[1]:
        return
    if min(ratios) <= 0 or max(ratios) > FOLLOWS * min(ratios):
        return
    least, most = (pick(pairs, key=lambda own: own[1].base_value) for pick in (min, max))
    again = sum(own.value for own in report.called("retransmits") if own.statistic == "interval")
    words: dict[str, Any] = {"trip": trip, "slow": least[0], "small": least[1]}
    words |= {"fast": most[0], "large": most[1], "again": int(again) or None}
    yield finding("rate-follows-window", words, about=[least[0], most[0]])


def _windows(report: Report) -> list[tuple[Result, Result]]:
    """Rate and window of the intervals of the first stream that has windows."""
    for owner, windows in intervals_of(report, "congestion window").items():
        rates = {own.line: own for own in intervals_of(report, "throughput").get(owner, [])}
        if owner[0] != SUM:
            return [
                (rates[own.line], own)
                for own in windows
                if own.line in rates and own.is_positive and rates[own.line].is_positive
            ]
    return []


SMALL = (0.35, 2.3)  # rate times round trip ÷ the window: Linux doubles what is asked for


@rule
def buffer_over_trip(reports: Sequence[Report]) -> Iterator[Finding]:
    """A window that was asked for and that, once in each round trip, makes just the rate."""
    pinged = [
        own.base_value / 1e9
        for report in reports
        if report.tool in ("ping", "fping")
        for own in report.called("round trip")
        if own.statistic in ("mean", "median") and own.is_positive
    ]
    is_one = len(set(pinged)) == 1
    for report in reports:
        window = report.facts.get("tcp_window_bytes") or _asked_window(report)
        trip = pinged[0] if is_one else report.facts.get("said_trip_s")
        rate = _whole(report)
        if not (is_number(window) and window and is_number(trip) and trip and rate):
            continue
        needed = (rate.rate or 0.0) * trip
        if SMALL[0] <= needed / window <= SMALL[1] and not stays_in_host(report):
            words: dict[str, Any] = {"window": window, "trip": trip, "rate": rate}
            words["needed"] = needed
            words["line"] = None if pinged else report.facts.get("said_trip_line")
            yield finding("buffer-holds", words, about=[rate])
            return


def _asked_window(report: Report) -> float | None:
    """The window of iperf3's command, for which it prints none."""
    if report.tool != "iperf3":
        return None
    text = option(Command(report.line, report.asked), "-w", "--window")
    digits, prefix = text[:-1], text[-1:].upper()
    if text.isdecimal():
        digits, prefix = text, ""
    if not digits.isdecimal() or prefix not in ("", "K", "M"):
        return None
    return float(digits) * {"": 1, "K": 2**10, "M": 2**20}[prefix]


def _whole(report: Report) -> Result | None:
    """The rate of one stream over the whole time."""
    totals = [
        own
        for own in report.called("throughput")
        if own.statistic == "total" and own.is_positive and bytes_per_s(1.0, own.unit)
    ]
    is_single = report.facts.get("streams", 1) == 1 and report.facts.get("protocol") == "tcp"
    return totals[-1] if totals and is_single else None


APART, MOST_RUNS = 20.0, 30  # runs of a log that are compared, each with all others


@rule
def segments_too_large(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two transfers to one host of which the one with the larger segments (-M) hardly moves.

    Decided by the two commands and the two rates.
    """
    asked = [
        (int(size), rate, report)
        for report in reports
        if report.tool in ("iperf", "iperf3")
        if (
            size := option(Command(report.line, report.asked), "-M", "--mss", "--set-mss")
        ).isdecimal()
        and len(size) < 6
        if (rate := _fastest(report)) is not None
    ]
    for (first, fast, tested), (second, slow, other) in combinations(asked[:MOST_RUNS], 2):
        small, large = (first, fast), (second, slow)
        if first > second:
            small, large = large, small
        same = _end(tested) == _end(other) and _end(tested)
        if same and small[0] < large[0] and small[1].base_value >= APART * large[1].base_value:
            words = {"small": small[0], "fast": small[1], "large": large[0], "slow": large[1]}
            yield finding("segments-too-large", words)
            return


def _fastest(report: Report) -> Result | None:
    rates = [own for own in report.called("throughput") if own.is_positive]
    return max(rates, key=lambda own: own.base_value) if rates else None


def _end(report: Report) -> object:
    return report.facts.get("far_host") or report.facts.get("far_address")


SAME_LOSS, RATES_APART, LEAST_LOSS = 0.06, 5.0, 3.0


@rule
def same_loss(reports: Sequence[Report]) -> Iterator[Finding]:
    """Tests of datagrams at rates far apart that lose the same share: no link is full."""
    lossy = [
        (loss, rate)
        for report in reports
        if report.facts.get("protocol") == "udp"
        for loss in report.called("loss")
        if loss.statistic == "total" and LEAST_LOSS <= loss.value < 100
        for rate in report.called("throughput")
        if rate.line == loss.line and rate.is_positive
    ]
    for (loss, rate), (other, again) in combinations(lossy[:MOST_RUNS], 2):
        slow, fast = sorted((rate, again), key=lambda own: own.base_value)
        is_same = abs(loss.value - other.value) <= SAME_LOSS * loss.value
        if is_same and fast.base_value >= RATES_APART * slow.base_value:
            words = {"loss": loss, "other": other, "slow": slow, "fast": fast}
            yield finding("same-loss", words, about=[loss, other])
            return


LEAST_GAIN, TOOLS = 1.4, ("iperf", "iperf3")


@rule
def streams_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """One stream over TCP and several together to one host, at rates far apart: the link carries
    more than one stream gets."""
    alone: dict[object, Result] = {}
    several: dict[object, tuple[int, Result]] = {}
    for report in reports:
        streams, end = report.facts.get("streams"), _end(report)
        if report.tool not in TOOLS or report.facts.get("protocol") != "tcp" or not end:
            continue
        if not is_number(streams) or stays_in_host(report):
            continue
        totals = [own for own in report.called("throughput") if own.statistic == "total"]
        sums = [own for own in totals if str(own.of.get("stream")) == SUM and own.is_positive]
        key = end, bool(report.facts.get("reverse"))
        if streams == 1 and totals and totals[-1].is_positive:
            alone.setdefault(key, totals[-1])
        elif sums:
            several.setdefault(key, (int(streams), sums[-1]))
    for path, single in alone.items():
        count, all_of = several.get(path, (0, single))
        if count > 1 and all_of.base_value >= LEAST_GAIN * single.base_value:
            words = {"single": single, "all_of": all_of, "count": count}
            yield finding("streams-apart", words, ratio=all_of.base_value / single.base_value)
            return


SMALL_WRITE, MANY_PER_S = 8192, 400_000.0


@rule
def small_writes(reports: Sequence[Report]) -> Iterator[Finding]:
    """Streams over TCP that are handed over in so small pieces that the calls hold their rate: the
    first is told."""
    for words in filter(None, map(_small_writes, reports)):
        yield finding("small-writes", words)
        return


def _small_writes(report: Report) -> dict[str, Any] | None:
    if report.tool not in (*TOOLS, "netperf") or report.facts.get("protocol") != "tcp":
        return None
    asked = option(Command(report.line, report.asked), "-l", "--length", "--len")
    for rate in reversed(report.called("throughput")):
        size = report.column(rate, "write_bytes")
        if not size and report.tool in TOOLS and asked.isdecimal():
            size = float(asked)
        if rate.statistic != "total" or not is_number(size) or not 0 < size <= SMALL_WRITE:
            continue
        streams = report.facts.get("streams", 1)
        per_s = (rate.rate or 0.0) / size / (streams if is_number(streams) and streams > 0 else 1)
        if per_s >= MANY_PER_S and not fills_link(8 * (rate.rate or 0.0)):
            return {"rate": rate, "size": round(size), "per_s": per_s}
    return None


ONE_CORE_PER_S = 250_000.0


@rule
def datagrams_of_one_core(report: Report) -> Iterator[str]:
    """A note for one stream of datagrams at a number that takes a core of a sender."""
    if report.facts.get("protocol") != "udp" or report.facts.get("streams") != 1:
        return
    datagrams = report.called("datagrams")
    totals = [own for own in datagrams if own.statistic == "total" and own.is_positive]
    times: dict[int, Any] = {}  # of each line by its first figure
    for own in report.results if totals else ():
        times.setdefault(own.line, own.of.get("elapsed_s"))
    for count in totals:
        took = times.get(count.line)
        per_s = count.value / took if is_number(took) and took > 0 else 0.0
        if per_s >= ONE_CORE_PER_S:
            yield (
                f"line {count.line}: one stream made {per_s:,.0f} datagrams a second, about what "
                "one core sends or receives through the kernel. So neither the rate nor the losses "
                "need be those of the link. Use several streams and processes"
            )
            return


TUNNEL = range(
    500, 1437
)  # frames of 1500 leave 1440 and 1460, with PPPoE 1452; with stamps 12 less


@rule
def segments_of_tunnel(report: Report) -> Iterator[str]:
    """A note for segments shorter than Ethernet has them: a tunnel or an overlay is on the way."""
    size = report.facts.get("mss_bytes")
    if size not in TUNNEL:
        return
    far = str(report.facts.get("far_address") or "")
    asked = option(Command(report.line, report.asked), "-M", "--set-mss", "--mss")
    if "." in far and not asked and report.results:
        yield (
            f"line {report.line}: its segments have {size:,} bytes, where frames of 1500 leave "
            "1448 or 1460. So most likely a tunnel or an overlay is on the way (VPN, VXLAN, "
            "containers, a cloud). The work of packing each segment may hold the rate"
        )

"""disk-stalls, sender-stalls, fixed-delay: something waits far longer than the work takes."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.storage import FIXED_BYTES
from benchbook.findings import Finding

LONG_NS = 1e8  # for one small request: ten turns of a slow disk
APART = 5  # longest ÷ shortest
LEAST_REQUESTS = 3
HDPARM_S = 4.0  # hdparm ends with the first read after three seconds


@rule
def disk_stalls(report: Report) -> Iterator[Finding]:
    """A disk of which some requests take a tenth of a second and more, far longer than others.

    Decided by the printed times of the requests, or by a timed read that went on for a second after
    its three were over: its last request took that long.
    """
    if report.tool == "ioping":
        requests = [time for time in report.called("request") if time.is_positive]
        samples = [time for time in requests if time.statistic == "sample"]
        ends = samples or [time for time in requests if time.statistic in ("min", "max")]
        if len(samples) >= LEAST_REQUESTS or (not samples and len(ends) > 1):
            least, most = (pick(ends, key=_ns) for pick in (min, max))
            if most.base_value >= LONG_NS and most.base_value >= APART * least.base_value:
                times = most.base_value / least.base_value
                yield finding("slow-requests", most=most, least=least, times=times)
    elif report.tool == "hdparm":
        for read in report.results:
            took = read.of.get("elapsed_s")
            is_timed = read.of.get("bytes_moved") != FIXED_BYTES
            if "disk" in read.name and is_number(took) and took >= HDPARM_S and is_timed:
                yield finding("long-read", read=read, took=took, late=took - 3.0)


def _ns(time: Result) -> float:
    return time.base_value


STILL_S = 2.0  # for one write: longer than any round trip


@rule
def sender_stalls(report: Report) -> Iterator[Finding]:
    """A stream over TCP so slow that one write of the program took seconds.

    Decided by the size of a write over the rate: TCP has as much under way at a time as the socket
    holds, which is a write at least, and no round trip takes seconds.
    """
    for rate in report.called("throughput"):
        write, took = rate.of.get("write_bytes"), rate.of.get("elapsed_s")
        if rate.statistic != "total" or report.facts.get("protocol") != "tcp" or not rate.rate:
            continue
        if is_number(write) and is_number(took) and write / rate.rate >= STILL_S:
            words = {"write": write, "waits": write / rate.rate, "took": took}
            yield finding("write-of-seconds", words, rate=rate)


FLAT = 3.0  # longest ÷ shortest time of all sizes
SPAN = 64  # largest ÷ smallest size
LEAST_DELAY_NS = 5e5  # of a collective: a launch and the steps of a ring take less
LEAST_SIZES = 5


@rule
def fixed_delay(report: Report) -> Iterator[Finding]:
    """A collective whose time hardly depends on its size, at half a millisecond and more.

    Decided by the sweep: over a factor of 64 in bytes and more the time grows threefold at most.
    What takes so long for the smallest is no transfer.
    """
    is_collective = report.tool == "nccl-tests" or report.facts.get("pattern") == "collective"
    is_sized = is_collective and bool(report.knowing("message_bytes"))
    for (name, statistic, _), several in report.groups.items() if is_sized else ():
        if not name.endswith("time") or "min" in statistic:
            continue
        sized = [
            (size, time)
            for time in several
            if time.is_time and time.is_positive
            if is_number(size := report.column(time, "message_bytes")) and size > 0
        ]
        if len(sized) < LEAST_SIZES:
            continue
        (small, first), (large, last) = (pick(sized, key=_size) for pick in (min, max))
        times = [time.base_value for _, time in sized]
        if large < SPAN * small or min(times) < LEAST_DELAY_NS or max(times) > FLAT * min(times):
            continue
        words = {"first": first, "last": last, "small": small, "large": large}
        words |= {"ratio": large / small, "times": last.base_value / first.base_value}
        yield finding("flat-times", words)
        return


def _size(pair: tuple[float, Result]) -> float:
    return pair[0]


SHORT_S, FEW_DATAGRAMS = 0.5, 100


@rule
def short_run(report: Report) -> Iterator[Finding]:
    """A test of a connection that is over before its rate means anything.

    Decided by the printed time, or by the count of datagrams.
    """
    if report.tool != "netperf":
        return
    datagrams = {own.line: own for own in report.called("datagrams")}
    for figure in report.called("throughput"):
        took = figure.of.get("elapsed_s")
        sent = [datagrams[figure.line]] if figure.line in datagrams else []
        count = int(sent[0].value) if sent and sent[0].value < FEW_DATAGRAMS else None
        if figure.statistic == "total" and is_number(took) and (took < SHORT_S or count):
            yield finding("short-run", figure=figure, took=took, count=count)
            return


SHORT_REGION_NS, BUSIER = 1e6, 3.0


@rule
def short_region(report: Report) -> Iterator[Finding]:
    """A marked region of microseconds, whose core is busy for many times that.

    Decided by both times of one core: no clock makes the second a multiple of the first.
    """
    if report.tool != "likwid-perfctr":
        return
    times = {_counted_where(time): time for time in report.called("Runtime (RDTSC)")}
    for busy in report.called("Runtime unhalted"):
        time = times.get(_counted_where(busy))
        if time is None or "core" not in busy.of or not (time.is_positive and busy.is_positive):
            continue
        if time.base_value < SHORT_REGION_NS and busy.base_value > BUSIER * time.base_value:
            region = time.of.get("region")
            named = "" if region is None else f" {region}"
            yield finding("short-region", time=time, busy=busy, named=named)
            return


def _counted_where(time: Result) -> tuple[object, ...]:
    """The core, region and group of a time."""
    return tuple(map(time.of.get, ("core", "region", "group")))

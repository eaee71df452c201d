"""What carried the messages of MPI, NCCL and RDMA tests, by their times and rates; and which of
their figures stands for the link."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.sweeps import Sweep, sweeps_of, time_of
from benchbook.findings import Finding

SMALL_BYTES = 8
MPI = ("osu", "imb")


class _Way(NamedTuple):
    """Times of a small message one way, and what carries one so fast."""

    least_ns: float
    most_ns: float
    words: str


# Memory of one host takes 0.1 to 0.8 us, RDMA 0.8 to 4, TCP through the kernel 5 to 60.
WAYS = (
    _Way(
        850.0,
        3500.0,
        "too fast for TCP through the kernel (5 to 60 us). An RDMA network or another way past the "
        "kernel carried it, or the memory of one host",
    ),
    _Way(
        9000.0,
        150e3,
        "as long as TCP through the kernel takes. An RDMA network (InfiniBand, Omni-Path, RoCE) "
        "takes 1 to 3 us; if the hosts have one, it was not used",
    ),
)


def small_message(report: Report) -> Result | None:
    """The time of the smallest message between two processes; None where there is none."""
    if report.tool not in MPI or report.facts.get("pattern", "point to point") != "point to point":
        return None
    if "device_buffers" in report.facts:
        return None  # which may be copied to the host first
    test = str(report.facts.get("test") or "")
    times = [
        time
        for time in report.being("mean")
        if time.is_time and time.is_positive
        if is_number(size := report.column(time, "message_bytes")) and size <= SMALL_BYTES
    ]
    is_two_sided = not test or "Latency" in test or "PingPong" in test
    return times[0] if times and is_two_sided and _is_of_two(report, times[0]) else None


def _is_of_two(report: Report, time: Result) -> bool:
    """Whether it is half of a round trip between two processes, and of no collective."""
    if report.tool == "imb":
        return "PingPong" in time.name
    return report.facts.get("processes", 2) == 2 and "latency" in time.name.lower()


@rule
def way_of_messages(report: Report) -> Iterator[str]:
    """A note of what carries a small message in such a time."""
    time = small_message(report)
    for way in WAYS if time else ():
        if time is not None and way.least_ns <= time.base_value <= way.most_ns:
            yield (
                f"line {time.line}: {time.value:g} {time.unit} for the smallest message is "
                f"{way.words}"
            )


LINKS = ((100e6, 119e6, "gigabit Ethernet"), (1.05e9, 1.25e9, "a link of 10 Gbit/s"))
LARGE_BYTES = 1 << 20


@rule
def link_of_messages(report: Report) -> Iterator[str]:
    """A note where the rate of large messages is as much as a slow link carries."""
    rates = [
        rate
        for rate in report.called("throughput")
        if report.tool in MPI and rate.statistic == "mean" and rate.is_positive
        if is_number(size := report.column(rate, "message_bytes")) and size >= LARGE_BYTES
    ]
    if not rates or report.facts.get("direction") == "both":
        return
    best = max(rates, key=lambda rate: rate.rate or 0.0)
    for least, most, name in LINKS:
        if least <= (best.rate or 0.0) <= most:
            yield (
                f"line {best.line}: {best.value:g} {best.unit} is as much as {name} carries. If "
                "the hosts have a faster network, MPI did not use it"
            )


WITHIN_NS, FALLS, FAST_BYTES_PER_S = 850.0, 0.7, 5e9


@rule
def past_caches(reports: Sequence[Report]) -> Iterator[Finding]:
    """A rate between two processes of one host that falls where the messages leave the caches.

    Decided by a small message that only memory carries so fast, in the same table or log, and by a
    peak in the middle of the sizes.
    """
    small = [time for report in reports if (time := small_message(report))]
    if not small or any(time.base_value >= WITHIN_NS for time in small):
        return
    for report in reports:
        rates = [
            rate
            for rate in report.called("throughput")
            if report.tool in MPI and rate.statistic == "mean" and rate.is_positive
            if is_number(report.column(rate, "message_bytes"))
        ]
        if len(rates) < 6:
            continue
        peak, last = max(rates, key=lambda rate: rate.rate or 0.0), rates[-1]
        part = (last.rate or 0.0) / (peak.rate or 1.0)
        if (peak.rate or 0.0) >= FAST_BYTES_PER_S and part <= FALLS:
            words = {"peak": peak, "last": last, "time": small[0]}
            sizes = (report.column(rate, "message_bytes") for rate in (peak, last))
            words |= dict(zip(("peak_bytes", "last_bytes"), sizes, strict=True))
            yield finding("past-caches", words, about=[peak, last])
            return


FEW_ITERATIONS = 100
MTU_BYTES = 1024


@rule
def few_requests_of_rdma(report: Report) -> Iterator[Finding | str]:
    """An RDMA test of few requests, and a note of frames of 1500 bytes under RoCE."""
    if report.tool not in ("perftest", "fabtests") or not report.results:
        return
    rows = [own for own in report.being("mean") if is_number(own.of.get("iterations"))]
    counts = [own.of["iterations"] for own in rows]
    if counts and max(counts) < FEW_ITERATIONS:
        yield finding("few-iterations", count=max(counts), row=rows[-1], tool=report.tool)
    elif (words := _of_moment(rows)) is not None:
        yield finding("few-milliseconds", words)
    is_ethernet = report.facts.get("link_type") == "Ethernet"
    if report.facts.get("mtu_bytes") == MTU_BYTES and is_ethernet and report.called("throughput"):
        yield (
            f"line {report.line}: packets have {MTU_BYTES} bytes of payload, as Ethernet of 1500 "
            "allows. With jumbo frames (ip link set mtu 9000) they have 4096, which a fast link "
            "needs for its full rate"
        )


SHORT_S = 0.005


def _of_moment(rows: Sequence[Result]) -> dict[str, Any] | None:
    """The words of a single size whose iterations were over within milliseconds."""
    rates = [row for row in rows if row.name == "bandwidth" and row.rate and row.is_positive]
    sizes = {row.of.get("message_bytes") for row in rates}
    size, count = (
        (rates[0].of.get(name) for name in ("message_bytes", "iterations")) if rates else (0, 0)
    )
    if len(sizes) != 1 or not (is_number(size) and is_number(count)):
        return None
    took = size * count / (rates[0].rate or 1.0)
    words = {"row": rates[0], "took": took, "size": size, "count": count}
    return words if 0 < took < SHORT_S else None


SMALL_BYTES = 256
WHOLE_S, SURE = 1e-4, range(2, 100)  # how near to whole seconds, and of how many


@rule
def small_messages(report: Report) -> Iterator[str]:
    """Notes for perftest: a bandwidth of small messages alone, and iterations of a part of its
    time.

    With -D it counts neither the first nor the last quarter of that time. What it counted over its
    rate of messages are then whole seconds.
    """
    if report.tool != "perftest":
        return
    rates = [own for own in report.called("bandwidth") if own.statistic == "mean"]
    sizes = {own.of.get("message_bytes") for own in rates if own.is_positive}
    size = sizes.pop() if len(sizes) == 1 else None
    if is_number(size) and 0 < size <= SMALL_BYTES and (rate := rates[0]).rate:
        yield (
            f"line {rate.line}: messages of {size} bytes. {rate.value:,.6g} {rate.unit} are "
            f"{(rate.rate or 0.0) / size / 1e6:.3g} million of them a second. So this is how many "
            "messages card and core start, and no bandwidth of the link, which takes large ones"
        )
    for messages in report.called("message rate"):
        count = messages.of.get("iterations")
        if not is_number(count) or not messages.is_positive:
            continue
        took = count / messages.value
        is_whole = abs(took - round(took)) <= WHOLE_S * took
        if (
            round(took) in SURE
            and is_whole
            and "Bidirectional" not in str(report.facts.get("test"))
        ):
            yield (
                f"line {messages.line}: {count:,.0f} iterations are those of {round(took)} s. If "
                "-D asked for about twice that time, it is right: perftest leaves out the first "
                "quarter and the last"
            )
            return


LOW = 0.7


@rule
def average_of_sizes(report: Report) -> Iterator[str]:
    """A note where NCCL's average bus bandwidth is far below that of the largest message."""
    means = [own for own in report.called("bus bandwidth") if own.is_positive]
    names = ("out-of-place busbw", "in-place busbw")
    sized = [own for own in report.called(*names) if own.is_positive]
    if report.tool != "nccl-tests" or not means or not sized:
        return
    best = max(sized, key=lambda own: own.rate or 0.0)
    part = (means[-1].rate or 0.0) / (best.rate or 1.0)
    if part < LOW:
        yield (
            f"line {means[-1].line}: the average of {means[-1].value:g} {means[-1].unit} is a mean "
            f"over all sizes, small ones too; the largest rate is {number(best.value)} {best.unit} "
            f"(line {best.line})"
        )


BELOW_PEAK = 0.5  # of the peak, the average: without an interruption they are alike
PEAKS_ALIKE, AVERAGES_APART = 1.05, 1.5  # largest ÷ smallest of several rows


@rule
def peak_above_average(report: Report) -> Iterator[Finding]:
    """Averages of perftest far below the peaks next to them: the transfer was interrupted, or was
    over soon after its start."""
    if report.tool != "perftest":
        return
    rates = [rate for rate in report.called("bandwidth") if rate.is_positive]
    peaks = {rate.line: rate for rate in rates if rate.statistic == "max"}
    rows = [
        (rate, peaks[rate.line])
        for rate in rates
        if rate.statistic == "mean" and rate.line in peaks
    ]
    low = [(mean, peak) for mean, peak in rows if mean.value < BELOW_PEAK * peak.value]
    if not low:
        return
    mean, peak = min(low, key=lambda row: row[0].value / row[1].value)
    words: dict[str, Any] = {"part": mean.value / peak.value, "took": None, "count": None}
    size, count = mean.of.get("message_bytes"), mean.of.get("iterations")
    if is_number(size) and is_number(count) and mean.rate:
        took = float(size) * float(count) / mean.rate
        words["took"] = took if is_number(took) else None
    means, tops = [row[0].value for row in rows], [row[1].value for row in rows]
    is_alike = len(rows) > 1 and max(tops) <= PEAKS_ALIKE * min(tops)
    if is_alike and size is None and max(means) >= AVERAGES_APART * min(means):
        words |= {"count": len(rows), "least": min(means), "most": max(means)}
    yield finding("peak-above-average", words, about=[row[0] for row in low], mean=mean, peak=peak)


LARGE_ALIKE, SMALL_APART, SEVERAL_SIZES = 1.1, 5.0, 3
HARDLY_ROUNDED = 0.1  # of a figure, half of its last digit


@rule
def small_messages_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs of one test of MPI that carry large messages alike and small ones far apart: the
    link is the same, and something waits for each message of one run."""
    first_runs: dict[object, tuple[Report, Sweep]] = {}
    for report in reports:
        test = report.facts.get("test")
        sweeps = sweeps_of(report.groups) if report.tool in MPI and test else []
        if len(sweeps) != 1:
            continue
        if test not in first_runs:
            first_runs[test] = report, sweeps[0]
        elif words := _apart(first_runs[test][1], sweeps[0]):
            lines = {"line": first_runs[test][0].line, "other_line": report.line}
            yield finding("small-messages-apart", words | lines, test=test)
            return


def _apart(before: Sweep, after: Sweep) -> dict[str, Any]:
    """The words of two sweeps of which one is far slower at small sizes only; {} else."""
    of_size = dict(zip(after.sizes, after, strict=True))
    both = [
        (size, first, of_size[size])
        for size, first in zip(before.sizes, before, strict=True)
        if size in of_size
        if all(own.half <= HARDLY_ROUNDED * own.value for own in (first, of_size[size]))
    ]
    if len(both) <= SEVERAL_SIZES:
        return {}
    times = [(time_of(first), time_of(second)) for _, first, second in both]
    if not all(is_number(first) and second > 0 for first, second in times):
        return {}
    ratios = [first / second for first, second in times]
    if not all(0 < ratio < math.inf for ratio in ratios):
        return {}  # of numbers that nothing prints
    is_slower = [max(ratio, 1 / ratio) >= SMALL_APART for ratio in ratios]
    far = is_slower.index(False) if False in is_slower else 0  # as many sizes from the smallest on
    if far < SEVERAL_SIZES or not 1 / LARGE_ALIKE <= ratios[-1] <= LARGE_ALIKE:
        return {}
    worst = max(range(far), key=lambda at: max(ratios[at], 1 / ratios[at]))
    size, *figures = both[worst]
    slow, fast = figures if ratios[worst] > 1 else figures[::-1]
    words = {
        "slow": slow,
        "fast": fast,
        "size": size,
        "times": max(ratios[worst], 1 / ratios[worst]),
    }
    return words | {"large": both[-1][1], "upto": both[far - 1][0]}

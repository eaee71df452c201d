"""What rados bench, iostat and histograms of the kernel's block layer show over time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

STOOD, LEAST_SAMPLES = 3, 6


@rule
def writes_stand_still(report: Report) -> Iterator[Finding]:
    """Seconds of rados bench in which nothing was finished, one after the other."""
    samples = report.called("throughput") if report.tool == "rados-bench" else ()
    seconds = [own for own in samples if own.statistic == "sample"]
    stills = [list(own) for is_still, own in groupby(seconds, key=_is_still) if is_still]
    longest: list[Result] = max(stills, key=len, default=[])
    if len(seconds) >= LEAST_SAMPLES and len(longest) >= STOOD:
        words = {"count": len(longest), "every": len(seconds), "first": longest[0]}
        most = max(seconds, key=lambda own: own.value)
        zeros = sum(map(len, stills))
        yield finding("nothing-finished", words, most=most, zeros=zeros, about=longest[:1])


def _is_still(own: Result) -> bool:
    return own.value == 0


def _value(own: Result) -> float:
    return own.value


CONCURRENT, WAITS_NS = 8, 1e8


@rule
def objects_at_a_time(report: Report) -> Iterator[str]:
    """A note for latencies of rados bench that are those under way divided by the rate."""
    many = report.facts.get("concurrency")
    rate, time = report.only("operation rate", "mean"), report.only("response time", "mean")
    if report.tool != "rados-bench" or not many or rate is None or time is None:
        return
    under_way = rate.value * time.base_value / 1e9
    if many >= CONCURRENT and 0.8 * many <= under_way <= 1.1 * many and time.base_value >= WAITS_NS:
        yield (
            f"line {time.line}: {many} objects were under way, so the mean of {time.value:g} "
            f"{time.unit} is {many} divided by {rate.value:g} a second. It shows how many were "
            "sent at a time (-t), and need not be what one of them takes alone"
        )


@rule
def impossible_rate(report: Report) -> Iterator[Finding]:
    """Least rates below 0: an overflow of the tool."""
    least = report.only("operation rate", "min") if report.tool == "rados-bench" else None
    if least and least.value < 0:
        yield finding("below-zero", least=least)


ABOVE, FLUSH_NS = 101.0, 2e7


@rule
def reports_of_devices(report: Report) -> Iterator[Finding | str]:
    """iostat: a first report that is an average since the start, uses above 100 %, slow flushes."""
    if report.tool != "iostat" or not report.results:
        return
    line = report.facts.get("since_start_line")
    intervals = {own.of.get("interval") for own in report.results}
    if line and not any(word.startswith("-") and "y" in word for word in report.asked):
        first = report.results[0]
        if len(intervals) == 1:
            yield finding("since-boot", line=line, first=first, about=[first])
        else:
            yield (
                f"line {line}: the first report of iostat is the average since the system started. "
                "Leave it out (-y)"
            )
    above = [own for own in report.called("use") if own.value >= ABOVE]
    if above:
        yield f"line {above[0].line}: a use of {above[0].value:g} % cannot be. Read it as 100 %"
    slow = [own for own in report.called("flush wait") if own.base_value >= FLUSH_NS]
    if slow:
        yield finding("slow-cache-flush", slow=max(slow, key=_value), about=slow[:1])


FEW = 30


@rule
def few_in_histogram(report: Report) -> Iterator[str]:
    """A note for a histogram of few requests."""
    counts = [own.value for own in report.results] if report.tool == "biolatency" else []
    if 0 < sum(counts) < FEW:
        yield (
            f"line {report.line}: the lines of this histogram hold {sum(counts):.0f} "
            "requests only, so they say nothing of rare ones. Let the tool run longer"
        )


@rule
def not_run(report: Report) -> Iterator[Finding | str]:
    """Tests of a suite with a rate of 0: they did not run."""
    if report.tool not in ("yabs", "crystaldiskmark"):
        return
    rates = [own for own in report.results if own.rate is not None]
    none = [own for own in rates if own.value == 0]
    if rates and len(none) == len(rates):
        yield finding("nothing-ran", first=none[0], count=len(none), about=none[:1])
    elif none:
        yield (f"line {none[0].line}: {len(none)} rates are 0, so these tests were not run")


USB2 = (2.4e7, 4.4e7)  # bytes a second of large transfers
EVEN, LARGE = 0.15, 1 << 19


@rule
def slow_link(report: Report) -> Iterator[str]:
    """A note for large transfers of iozone that are as fast as USB 2 both ways."""
    rates = [
        own
        for own in (report.results if report.tool == "iozone" else ())
        if own.rate and (own.of.get("block_bytes") or 0) >= LARGE
    ]
    values = [own.rate or 0.0 for own in rates]
    if len(rates) < 4:
        return
    least, most = min(values), max(values)
    if USB2[0] <= least and most <= min(USB2[1], (1 + EVEN) * least):
        yield (
            f"line {rates[0].line}: large reads and writes are all at {least / 1e6:.0f} to "
            f"{most / 1e6:.0f} MB/s. That is what a link of USB 2 carries, so it may hold them, "
            "and not the drive (lsusb -t)"
        )

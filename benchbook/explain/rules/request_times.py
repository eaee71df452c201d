"""What the times of single requests show, by ioping and fio: pauses between them, a small range
that a cache holds, the power saving of a link, a flush behind each write, a limit."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.storage import WAITING, WAYS
from benchbook.findings import Finding

SLOWER = 1.5  # times the rate at which requests were made: the rate that is printed
FEW = 20


@rule
def pauses(report: Report) -> Iterator[str]:
    """A note for a rate of ioping that is one over the time of a request, with pauses between."""
    made, took = (report.facts.get(name) for name in ("requests_made", "made_in_s"))
    rate = report.only("request rate", "mean")
    if report.tool != "ioping" or not made or not took or rate is None:
        return
    if rate.value >= SLOWER * made / took:
        few = f" With {made} requests the mean and the longest say little." if made <= FEW else ""
        yield (
            f"line {rate.line}: the rate of {rate.value:,.6g} is one over the mean time. ioping "
            f"made {made:,} requests in {took:g} s, with pauses between them (-i). So it is a "
            f"latency, and no rate that the disk was driven at.{few}"
        )


APART = 5.0


@rule
def small_range(reports: Sequence[Report]) -> Iterator[Finding]:
    """Requests of ioping to a small range next to those all over a device, which take far longer.

    A range is small where -S sets it, or where a folder is the target: then it is a file of 1 MiB.
    """
    timed = [
        (report, mean)
        for report in reports
        if report.tool == "ioping" and (mean := report.only("request", "mean")) and mean.is_positive
    ]
    small = [(report, mean) for report, mean in timed if _is_small(report)]
    whole = [(report, mean) for report, mean in timed if not _is_small(report)]
    if not small or not whole:
        return
    all_over, long = max(whole, key=lambda own: own[1].base_value)
    report, short = min(small, key=lambda own: own[1].base_value)
    device = str(all_over.facts.get("disk"))
    lies_on = str(report.facts.get("lies_on") or report.facts.get("disk"))
    if lies_on.startswith(device) and long.base_value >= APART * short.base_value:
        how = "set" if str(report.facts.get("disk", "")).startswith("/dev/") else "folder"
        words = {"short": short, "long": long, "how": how}
        yield finding("small-range", words, times=long.base_value / short.base_value)


def _is_small(report: Report) -> bool:
    is_set = any(word.startswith("-S") for word in report.asked)
    return is_set or not str(report.facts.get("disk", "/dev/")).startswith("/dev/")


EVEN, LEAST_SAMPLES, SLOW_NS = 0.15, 8, (1.2e6, 8e6)


@rule
def even_and_slow(report: Report) -> Iterator[Finding]:
    """Requests of ioping, a second apart, that all take the same few milliseconds."""
    if report.tool != "ioping":
        return
    samples = [own for own in report.being("sample") if own.is_positive]
    if len(samples) < LEAST_SAMPLES or any(word.startswith("-R") for word in report.asked):
        return
    times = sorted(own.base_value for own in samples)
    middle = statistics.median(times)
    low, high = times[len(times) // 5], times[-1 - len(times) // 5]
    if SLOW_NS[0] <= middle <= SLOW_NS[1] and high - low <= EVEN * middle:
        yield finding("even-and-slow", first=samples[0], middle_ns=middle, about=samples[:1])


MORE = 1.25  # rate × mean latency ÷ requests that may be under way


@rule
def more_than_asked(report: Report) -> Iterator[Finding]:
    """Requests of fio whose rate and latency make more under way than there may be."""
    depth = report.facts.get("queue_depth")
    if report.tool != "fio" or not is_number(depth):
        return
    depth = 1 if report.facts.get("engine") in WAITING else depth
    most = depth * report.facts.get("processes", 1)
    for way in WAYS:
        rate = report.only(f"{way} operation rate", "mean")
        time = report.only(f"{way} lat", "mean") or report.only(f"{way} clat", "mean")
        if rate is None or time is None or not time.is_positive or not rate.is_positive:
            continue
        under_way = rate.value * time.base_value / 1e9
        rounded = 1 + 3 * rate.half / rate.value + time.half / time.value
        if under_way > MORE * rounded * most:
            least = report.only(f"{way} clat", "min")
            words = {"rate": rate, "time": time, "most": most, "under_way": under_way}
            words["each_ns"] = 1e9 * most / rate.value
            zero = least if least and least.value == 0 else None
            yield finding("more-than-asked", words, zero=zero, about=[time])
            return


HELD = (0.7, 1.15)  # of the time of a job: its writes and flushes
LONGER = 3.0  # times the write, its flush


@rule
def flush_holds(report: Report) -> Iterator[Finding]:
    """Writes of fio of which each waits for a flush that fio timed itself."""
    flush, rate = report.only("sync", "mean"), report.only("write operation rate", "mean")
    write = report.only("write lat", "mean") or report.only("write clat", "mean")
    if report.tool != "fio" or flush is None or rate is None or write is None:
        return
    busy = rate.value * (flush.base_value + write.base_value) / 1e9
    jobs = report.facts.get("processes", 1)
    if HELD[0] <= busy / jobs <= HELD[1] and flush.base_value >= LONGER * write.base_value:
        far = report.only("sync", "p99")
        yield finding("flush-holds", flush=flush, rate=rate, write=write, far=far, about=[rate])


LEAST_ONES = 1000


@rule
def samples_of_requests(report: Report) -> Iterator[str]:
    """A note for samples of fio's that are of single requests: its lines of them say nothing."""
    for own in (report.facts.get("rate_samples") or {}).values():
        if own["least"] == own["most"] == 1 and own["count"] >= LEAST_ONES:
            yield (
                f"line {own['line']}: min, max and avg of the iops are all 1 in {own['count']:,} "
                "samples. So this line says nothing. Most likely fio logged each request alone "
                "(--write_iops_log without --log_avg_msec)"
            )
            return


FLAT, DEEP, ROUND, STEP, LEAST_RATE = 1.15, 16, 0.003, 500.0, 1000.0


@rule
def held_at_a_rate(report: Report) -> Iterator[Finding]:
    """A deep queue of fio whose requests all take the same time, at a round rate: a limit."""
    depth = report.facts.get("queue_depth")
    if report.tool != "fio" or not is_number(depth):
        return
    for way in WAYS:
        rate, low, high = (
            report.only(f"{way} {name}", statistic)
            for name, statistic in (("operation rate", "mean"), ("clat", "p5"), ("clat", "p95"))
        )
        if not (rate and low and high and low.is_positive) or rate.value < LEAST_RATE:
            continue
        most = depth * report.facts.get("processes", 1)
        under_way = rate.value * high.base_value / 1e9
        near = round(rate.value / STEP) * STEP
        is_flat = high.base_value <= FLAT * low.base_value and high.base_value >= 2e6
        is_full = most >= DEEP and under_way >= 0.8 * most
        if is_flat and is_full and abs(rate.value / near - 1) <= ROUND:
            words = {"rate": rate, "low": low, "high": high, "near": near, "most": most}
            yield finding("held-at-a-rate", words, about=[rate])
            return


QUEUED, LONG_QUEUE, WAITS_NS, LONG_NS = (0.85, 1.1), 16, 1e6, 1e8


@rule
def latency_of_queue(report: Report) -> Iterator[str]:
    """A note for latencies of fio that are the depth of a deep queue divided by the rate."""
    depth = report.facts.get("queue_depth")
    if report.tool != "fio" or not is_number(depth) or report.facts.get("engine") in WAITING:
        return
    most = depth * report.facts.get("processes", 1)
    pairs = [
        (rate, time)
        for way in WAYS
        if (rate := report.only(f"{way} operation rate", "mean")) and rate.is_positive
        if (time := _latency(report, way)) and time.is_positive
    ]
    under_way = sum(rate.value * time.base_value / 1e9 for rate, time in pairs)
    if most >= LONG_QUEUE and pairs and QUEUED[0] * most <= under_way <= QUEUED[1] * most:
        _, time = pairs[0]
        per_s = sum(rate.value for rate, _ in pairs)
        if WAITS_NS <= time.base_value < LONG_NS:  # longer ones are a finding
            yield (
                f"line {time.line}: with {most:g} requests under way at {per_s:,.6g} a second each "
                f"takes {time.value:,.6g} {time.unit}, about {most:g} ÷ {per_s:,.6g} s. The "
                "latency goes with the depth of the queue, and need not be the time of one "
                "request alone"
            )


def _latency(report: Report, way: str) -> Result | None:
    return report.only(f"{way} lat", "mean") or report.only(f"{way} clat", "mean")


LEAST_UNDER_WAY, SEEKS_NS, ALL_DEEP = 8, 4e6, 90.0


@rule
def latency_without_depth(report: Report) -> Iterator[str]:
    """A note for the requests under way that rate and latency make (Little's law), where the head
    of fio with the depth is missing."""
    if report.tool != "fio" or is_number(report.facts.get("queue_depth")):
        return
    for way in WAYS:
        rate, time = report.only(f"{way} operation rate", "mean"), _latency(report, way)
        if not (rate and time and rate.is_positive and time.is_positive):
            continue
        under_way = rate.value * time.base_value / 1e9
        if under_way >= LEAST_UNDER_WAY and time.base_value >= WAITS_NS:
            each_ns = 1e9 / rate.value
            slow = (
                ". So many a second is what a disk with heads does at random places, or storage "
                "that flushes each write"
                if each_ns >= SEEKS_NS
                else ""
            )
            yield (
                f"line {time.line}: {rate.value:,.6g} a second at {time.value:,.6g} {time.unit} "
                f"each are about {under_way:,.3g} requests under way. The latency goes with that "
                "number, and need not be the time of one request alone: one is finished every "
                f"{each_ns / 1e6:,.3g} ms{slow}"
            )
            return


_FAR = (("p99", 100), ("p99.5", 200), ("p99.9", 1000))


@rule
def beyond_the_count(report: Report) -> Iterator[str]:
    """A note for percentiles of fio that are beyond the number of its requests."""
    if report.tool != "fio":
        return
    for way in WAYS:
        rate, whole = (
            report.only(f"{way} {kind}", "mean") for kind in ("operation rate", "bandwidth")
        )
        took = whole.of.get("elapsed_s") if whole else None
        if rate is None or not is_number(took):
            continue
        count = rate.value * took
        far = [
            time
            for name, least in _FAR
            if count < least and (time := report.only(f"{way} clat", name))
        ]
        if far and count >= 1:
            yield (
                f"line {far[0].line}: {rate.value:,.6g} requests a second for {took:g} s are some "
                f"{count:,.0f} in all. So {far[0].statistic} and above are the slowest one or two, "
                "and would differ in the next run"
            )
            return

"""What holds the rate of a disk's test, as far as its own figures show it: one request at a time,
seeks, a limit that was asked for, a stall, a rate that swings; and figures of fio that contradict
each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.core.number_format import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.storage import WAITING, WAYS, is_handing_over, submissions
from benchbook.findings import Finding


def fio_options(report: Report) -> dict[str, str]:
    """The options of the command above a run of fio, by name, with one dash or two."""
    words = report.asked if report.tool == "fio" else ()
    if not any(word.rpartition("/")[2] == "fio" for word in words):
        return {}
    options: dict[str, str] = {}
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-"):
            name, equals, own = word.lstrip("-").partition("=")
            options[name.replace("-", "_")] = own if equals else value
    return options


def _mean(report: Report, way: str, kind: str) -> Result | None:
    return report.only(f"{way} {kind}", "mean")


REQUEST_OFF = 1.2  # bytes of a request by rate and count ÷ by the job's own head
LESS = 0.9  # of one of its two parts: a whole


@rule
def fio_contradictions(report: Report) -> Iterator[Finding]:
    """Rate and count of fio's requests that make another size than the job has, and a latency below
    one of its parts."""
    if report.tool != "fio":
        return
    size = report.facts.get("block_bytes")
    for way in WAYS:
        rate, count = _mean(report, way, "bandwidth"), _mean(report, way, "operation rate")
        if size and rate and count and rate.is_positive and count.is_positive:
            made = (rate.rate or 0.0) / count.value
            rounded = 1 + rate.half / rate.value + 3 * count.half / count.value
            if not 1 / (REQUEST_OFF * rounded) <= made / size <= REQUEST_OFF * rounded:
                words = {"rate": rate, "count": count, "made": made, "size": size}
                yield finding("size-of-request", words, ratio=made / size)
        whole, part = _mean(report, way, "lat"), _mean(report, way, "clat")
        if whole and part and whole.base_value < LESS * part.base_value:
            yield finding("part-of-latency", whole=whole, part=part)


def _under_way(report: Report) -> tuple[float, float, Result | None]:
    """Requests at a time on average, as rate times latency (Little's law), all requests a second,
    and the first latency; zeros where one of them is not known."""
    in_flight = per_s = 0.0
    first: Result | None = None
    is_mixed = str(report.facts.get("operation", "")).endswith("rw")
    if is_mixed and not all(_mean(report, way, "operation rate") for way in WAYS):
        return 0.0, 0.0, None  # the log ends between the two
    for way in WAYS:
        count = _mean(report, way, "operation rate")
        wait = _mean(report, way, "lat") or _mean(report, way, "clat")
        if count is None:
            continue
        if wait is None:
            return 0.0, 0.0, None
        in_flight += count.value * wait.base_value / 1e9
        per_s += count.value
        first = first or wait
    return in_flight, per_s, first


LONG_QUEUE, LONG_WAIT_S = 8, 0.1  # requests under way, and how long each waits
ONE = (0.7, 1.1)
NOT_FULL = 0.5  # of the requests that were asked for
SEEK_S = (2.5e-3, 25e-3)  # for one request of a disk that turns
LARGEST_SEEK_BYTES = 1 << 16
LEAST_WAIT_NS = 1e6


def _is_in_submission(report: Report) -> bool:
    """Whether requests take their time before they are handed over, as through the page cache."""
    slats, _ = submissions(report)
    waits = [own for way in WAYS if (own := _mean(report, way, "clat"))]
    return any(slat.base_value >= wait.base_value for slat in slats for wait in waits)


@rule
def requests_under_way(report: Report) -> Iterator[Finding | str]:
    """How many requests were under way, as rate times latency, where few were or seeks show.

    A note where one was: the rate is then one over the latency. A finding for random requests of
    which each takes a disk that turns as long as a seek.
    """
    in_flight, per_s, wait = _under_way(report) if report.tool == "fio" else (0.0, 0.0, None)
    if wait is None or per_s <= 0:
        return
    jobs = report.facts.get("processes", 1)
    asked = report.facts.get("queue_depth", 1) * jobs
    operation = str(report.facts.get("operation", ""))
    size = report.facts.get("block_bytes") or 0
    least = min((own.base_value for own in report.being("min") if "lat" in own.name), default=0.0)
    is_seek = SEEK_S[0] <= 1 / per_s <= SEEK_S[1] and 0 < size <= LARGEST_SEEK_BYTES
    if operation.startswith("rand") and is_seek and least >= LEAST_WAIT_NS:
        words = {"per_s": per_s, "each_ns": 1e9 / per_s, "in_flight": in_flight}
        yield finding("seeks", words, wait=wait)
    elif (
        in_flight >= LONG_QUEUE
        and in_flight / per_s >= LONG_WAIT_S
        and asked >= LONG_QUEUE
        and not _is_of_few(report, wait)
        and not is_handing_over(report)
    ):
        words = {"per_s": per_s, "in_flight": in_flight, "waits_s": in_flight / per_s}
        yield finding("long-queue", words, wait=wait)
    elif ONE[0] <= in_flight <= ONE[1] and asked == 1 and not _is_in_submission(report):
        yield (
            f"line {wait.line}: one request was under way at a time, so its time limits the rate "
            f"({per_s:,.5g} a second). A deeper queue (--ioengine=libaio --iodepth=32) or "
            "more jobs show what the device can do"
        )
    elif (
        operation.startswith("rand")
        and not _each_flushed(report)
        and in_flight >= DEEP
        and FULL_QUEUE[0] * asked <= in_flight <= FULL_QUEUE[1] * asked
        and 0 < size <= LARGEST_SEEK_BYTES
        and FLASH_S[0] <= 1 / per_s <= FLASH_S[1]
    ):
        yield (
            f"line {wait.line}: {number(in_flight)} requests were under way, and one was finished "
            f"every {1e6 / per_s:.3g} us. If a single request alone takes as long, the device does "
            "one at a time, and a deeper queue has no effect. Else a quota of the volume, or the "
            "way to it, may hold the rate"
        )
    elif (
        _is_one_for_each(report)
        and ONE_EACH[0] <= in_flight / jobs <= ONE_EACH[1]
        and per_s * (size or LARGEST_SEEK_BYTES) <= LITTLE_BYTES_PER_S
    ):
        yield (
            f"line {wait.line}: each of {jobs:g} jobs had one request under way. So the rate of "
            f"{number(per_s)} a second is {jobs:g} over the time of a request, and no bandwidth "
            f"holds it. If the device does one at a time, its own time is {1e3 / per_s:.3g} ms, "
            "and the rest is waiting for the others. Else a network or a flush takes the time"
        )
    elif (
        "queue_depth" in report.facts
        and in_flight < NOT_FULL * asked
        and report.facts.get("engine") not in WAITING
        and not _is_in_submission(report)
        and not {"rate", "rate_iops"} & fio_options(report).keys()
    ):
        yield (
            f"line {wait.line}: rate times latency is {number(in_flight)} requests under way, of "
            f"{asked} that were asked for. So the queue was not full, and most likely something "
            "before the device holds the rate (the submitting core, a limit, flushes)"
        )


LITTLE_BYTES_PER_S = 5e7  # what the slowest disks carry
DEEP, FULL_QUEUE = 16, (0.85, 1.15)
FLASH_S = (8e-5, 5e-4)  # for one read of flash behind a bus, with what lies on the way
ONE_EACH, ONLY_ONE = (0.85, 1.1), 99.0


def _is_of_few(report: Report, wait: Result) -> bool:
    """Whether few long requests make the mean: the usual one does not wait so long."""
    middle = report.only(wait.name, "p50") or report.only(wait.name.replace(" lat", " clat"), "p50")
    return middle is not None and middle.base_value < wait.base_value / 3


def _is_one_for_each(report: Report) -> bool:
    """Whether several jobs had one request under way each."""
    alone, depth = report.facts.get("one_in_flight_percent"), report.facts.get("queue_depth")
    is_alone = depth == 1 or (is_number(alone) and alone >= ONLY_ONE)
    return is_alone and report.facts.get("processes", 1) > 1


_LIMIT = late(r"^(\d+(?:\.\d+)?)([kKmMgG]?)")
_LIMITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
NEAR = 0.03


@rule
def job_as_asked(report: Report) -> Iterator[Finding]:
    """A job of fio at the rate that its command limits it to (rate, rate_iops)."""
    options = fio_options(report)
    for name, kind in (("rate_iops", "operation rate"), ("rate", "bandwidth")):
        limit = _LIMIT.match(options.get(name, ""))
        for way in WAYS if limit else ():
            rate = _mean(report, way, kind)
            if limit and rate and rate.is_positive:
                wanted = float(limit[1]) * _LIMITS[limit[2].lower()]
                jobs = report.facts.get("processes", 1)
                value = rate.value if kind == "operation rate" else (rate.rate or 0.0)
                if abs(value / (wanted * jobs) - 1) <= NEAR:
                    yield finding("job-as-asked", rate=rate, asked=f"{name}={options[name]}")
                    return


LONG_S, OF_RUN = 1.0, 0.05
FAR = 100.0


@rule
def request_of_seconds(report: Report) -> Iterator[Finding]:
    """A single request of fio that lasted for a large part of the run."""
    for way in WAYS if report.tool == "fio" else ():
        longest = report.only(f"{way} clat", "max") or report.only(f"{way} lat", "max")
        middle = report.only(f"{way} clat", "p50") or _mean(report, way, "clat")
        rate = _mean(report, way, "bandwidth")
        took = rate.of.get("elapsed_s") if rate else None
        if longest is None or middle is None or not is_number(took) or not longest.is_number:
            continue
        lasted = longest.base_value / 1e9
        if lasted >= max(LONG_S, OF_RUN * took) and longest.base_value >= FAR * middle.base_value:
            part = min(1.0, lasted / took)
            yield finding("request-of-run", longest=longest, middle=middle, part=part, took=took)
            return


SWING, SPREAD, LEAST_SAMPLES, LEAST_RATE = 3.0, 0.25, 10, 100.0
QUOTAS = (3000.0, 5000.0, 7500.0, 16000.0, 20000.0, 64000.0)  # requests a second of cloud volumes
OF_QUOTA, EVEN = 0.02, 0.01


@rule
def rate_over_time(report: Report) -> Iterator[Finding]:
    """A rate of fio that swings from sample to sample, or one so even and round as a quota."""
    if report.tool != "fio" or not report.facts.get("block_bytes"):
        return
    for way, own in (report.facts.get("rate_samples") or {}).items():
        if own["count"] < LEAST_SAMPLES or own["mean"] < LEAST_RATE:
            continue
        rate = _mean(report, way, "operation rate")
        if rate is None:
            continue
        words: dict[str, Any] = {**own, "rate": rate, "share": own["deviation"] / own["mean"]}
        quota = next((each for each in QUOTAS if abs(rate.value / each - 1) <= OF_QUOTA), None)
        if own["most"] >= SWING * max(1.0, own["least"]) and words["share"] >= SPREAD:
            yield finding("rate-swings", words, about=[rate])
            return
        if quota and words["share"] <= EVEN:
            yield finding("as-a-quota", words, about=[rate], quota=quota)
            return


SHORT_S = 0.3


@rule
def short_job(report: Report) -> Iterator[Finding]:
    """A job of fio, or a copy, that was over before its rate means anything."""
    means = report.being("mean") if report.tool == "fio" else ()
    rates = [rate for rate in means if rate.name.endswith("bandwidth")]
    took = [rate.of["elapsed_s"] for rate in rates if is_number(rate.of.get("elapsed_s"))]
    if took and max(took) < SHORT_S:
        yield finding("job-over-soon", rate=rates[0], took=max(took))


FLUSHED_NS = 2e5
OF_WRITE = 0.1  # of the time of a write: a flush that does not hold it


def _each_flushed(report: Report) -> list[str]:
    """The options of fio by which each write waits for a flush."""
    options = fio_options(report)
    return [
        f"{name}={options[name]}"
        for name in ("fsync", "fdatasync", "sync")
        if options.get(name) in ("1", "sync", "dsync")
    ]


@rule
def flushed_writes(report: Report) -> Iterator[Finding]:
    """Writes of fio of which each waits until it is on the medium, by its command."""
    each = _each_flushed(report)
    count = _mean(report, "write", "operation rate")
    jobs = report.facts.get("processes", 1)
    if each and count and count.is_positive and 1e9 * jobs / count.value >= FLUSHED_NS:
        words = {"each_ns": 1e9 * jobs / count.value, "asked": each[0], "jobs": jobs}
        flush = report.only("sync", "mean")
        if flush and flush.base_value < OF_WRITE * words["each_ns"]:
            return  # the tool timed the flush itself: the write takes the time
        yield finding("each-flushed", words, count=count)


UNIT_BYTES = 4096  # the block of nearly all drives, whatever sectors they report
SMALLER_TAKES = 3.0  # times as long as the larger write
_SETTINGS = ("engine", "queue_depth", "processes", "operation")


@rule
def below_unit(reports: Sequence[Report]) -> Iterator[Finding]:
    """Writes of fio below 4 KiB that take several times as long as those of 4 KiB or more, in two
    runs with the same settings."""
    timed = [
        (report.facts["block_bytes"], wait, report)
        for report in reports
        if report.tool == "fio" and report.facts.get("block_bytes")
        if (wait := _mean(report, "write", "clat")) and wait.is_positive
    ]
    fastest: dict[tuple[object, ...], tuple[int, Result]] = {}
    for size, wait, report in timed:
        key = tuple(map(report.facts.get, _SETTINGS))
        if size >= UNIT_BYTES and (
            key not in fastest or wait.base_value < fastest[key][1].base_value
        ):
            fastest[key] = size, wait
    for size, small, report in timed:
        larger, large = fastest.get(tuple(map(report.facts.get, _SETTINGS)), (0, None))
        if large and size < UNIT_BYTES and small.base_value >= SMALLER_TAKES * large.base_value:
            yield finding("below-unit", small=small, large=large, size=size, larger=larger)
            return


SUFFIXES = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SUFFIXES |= {"kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_BLOCK = late(r"^(\d+)([a-zA-Z]{0,3})$")
SMALL_BLOCK, SYNCED_BLOCK = 2048, 1 << 17
CALLS_S = 5e-6  # what two calls of the kernel take at most
SLOW_BLOCK_S = 5e-5
LONG_BLOCK, LONG_BLOCK_S = 1 << 20, 0.04  # a disk that turns writes that much in a third of it
GENERATED_BYTES_PER_S = 7e8
STOPPED_S = 4e-3  # for a block that the page cache takes in microseconds
FEW_BYTES, FEW_S = 1 << 26, 0.2
TARGETS_APART = 5.0


def _block(report: Report) -> int | None:
    """The bytes that dd reads and writes at once; None where nobody knows its command."""
    if "flags" not in report.facts:
        return None
    found = _BLOCK.match(str(report.facts.get("block") or "512"))
    return int(found[1]) * SUFFIXES.get(found[2].lower(), 0) or None if found else None


@rule
def copies(reports: Sequence[Report]) -> Iterator[Finding]:
    """Copies by dd whose rate is of its source, of its small blocks, or of one short block.

    Decided by the command: what it reads from, how large its blocks are, and whether each waits for
    the disk; and by the time of a block. Of several copies of one kind the first is told.
    """
    told = set[str]()
    for report in reports if len(reports) else ():
        if report.tool != "dd" or not report.results:
            continue
        copy = report.results[0]
        for kind, words in _of_copy(report, copy):
            if kind not in told:
                told.add(kind)
                yield finding(kind, words, copy=copy)
    yield from _targets_apart([report for report in reports if report.tool == "dd"])


def _of_copy(report: Report, copy: Result) -> Iterator[tuple[str, Mapping[str, Any]]]:
    block, moved, took = _block(report), copy.of.get("bytes_moved"), copy.of.get("elapsed_s")
    if block is None or not moved or not took:
        return
    source, flags = str(report.facts.get("input", "")), str(report.facts.get("flags", ""))
    blocks = max(1, round(moved / block))
    words: dict[str, Any] = {"block": block, "blocks": blocks, "each_ns": 1e9 * took / blocks}
    each_waits = re.search(r"direct|dsync|(?<!f)(?<!fdata)sync", flags)
    if source in ("/dev/urandom", "/dev/random") and (copy.rate or 0.0) < GENERATED_BYTES_PER_S:
        yield "random-source", words | {"source": source}
    elif each_waits and block <= SYNCED_BLOCK and blocks > 1 and took / blocks >= SLOW_BLOCK_S:
        yield "waits-for-each", words | {"flags": flags}
    elif each_waits and block <= LONG_BLOCK and blocks > 4 and took / blocks >= LONG_BLOCK_S:
        yield "long-blocks", words | {"flags": flags}
    elif not each_waits and block <= SMALL_BLOCK and blocks > 1000:
        if took / blocks <= CALLS_S:
            yield "copied-in-small-blocks", words
    elif not flags and block <= SYNCED_BLOCK and blocks > 4 and took / blocks >= STOPPED_S:
        yield "mounted-sync", words
    elif blocks == 1 and moved < FEW_BYTES and took < FEW_S:
        yield "single-block", words


def _targets_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """Flushed copies of the same source and size to two targets, far apart."""
    alike: dict[tuple[object, ...], dict[str, Result]] = {}
    for report in reports:
        target = str(report.facts.get("output", ""))
        if report.facts.get("flags") and target and report.results:
            copy = report.results[0]
            key = (report.facts.get("input"), report.facts["flags"], copy.of.get("bytes_moved"))
            alike.setdefault(key, {}).setdefault(target, copy)
    for by_target in alike.values():
        if len(by_target) > 1:
            slow_to, fast_to = (
                pick(by_target, key=lambda target: by_target[target].rate or 0.0)
                for pick in (min, max)
            )
            slow, fast = by_target[slow_to], by_target[fast_to]
            ratio = (fast.rate or 0.0) / (slow.rate or 1.0)
            if ratio >= TARGETS_APART:
                words = {"slow_to": slow_to, "fast_to": fast_to, "ratio": ratio}
                yield finding("targets-apart", words, slow=slow, fast=fast)
                return


_MAPPED = late(r"^/dev/(?:mapper/\S+|dm-\d+|[A-Za-z][\w.-]*/[\w.-]+)$")
_DISK = late(r"^/dev/(?:[shv]d[a-z]+\d*|xvd[a-z]\d*|nvme\d+n\d+(?:p\d+)?|mmcblk\d+(?:p\d+)?)$")
LAYER_COSTS = 0.6
SPIKE_NS, SPIKE = 1e7, 100.0


@rule
def layer_above_disk(reports: Sequence[Report]) -> Iterator[Finding]:
    """A mapped volume that hdparm reads far slower than the only kind of disk in the log."""
    reads: dict[str, Result] = {
        str(report.facts.get("disk")): read
        for report in reports
        if report.tool == "hdparm"
        for read in report.results
        if "disk" in read.name and read.rate
    }
    mapped = [read for disk, read in reads.items() if _MAPPED.match(disk)]
    below = [read for disk, read in reads.items() if _DISK.match(disk)]
    if mapped and below:
        slow = min(mapped, key=lambda read: read.rate or 0.0)
        least = min(below, key=lambda read: read.rate or 0.0)
        part = (slow.rate or 0.0) / (least.rate or 1.0)
        if part <= LAYER_COSTS:
            yield finding("slow-layer", slow=slow, disk=least, part=part)


@rule
def spike_of_requests(reports: Sequence[Report]) -> Iterator[Finding]:
    """One request of ioping's that took a hundred times the mean, of which its summary tells."""
    for report in reports:
        if report.tool != "ioping" or report.being("sample"):
            continue
        longest, mean = report.only("request", "max"), report.only("request", "mean")
        if longest is None or mean is None or not mean.is_positive:
            continue
        times = longest.base_value / mean.base_value
        if SPIKE_NS <= longest.base_value < 1e8 and times >= SPIKE:
            calm = next(
                (
                    own
                    for other in reports
                    if other is not report
                    and other.tool == "ioping"
                    and other.facts.get("disk") == report.facts.get("disk")
                    if (own := other.only("request", "max"))
                    and own.base_value < longest.base_value / SPIKE
                ),
                None,
            )
            yield finding("one-spike", longest=longest, mean=mean, times=times, calm=calm)
            return

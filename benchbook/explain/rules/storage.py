"""page-cache, shallow-queue: whether a figure is one of a disk, and how much was asked at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.cached_reads import (
    ABOVE_DISKS_BYTES_PER_S,
    NOWHERE,
    copy_of,
    doubts,
    is_cached_read,
)
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# Engines of fio that hand a request over and go on, and those that wait for each.
QUEUEING = frozenset(("libaio", "io_uring", "posixaio", "solarisaio", "windowsaio"))
WAITING = frozenset(("sync", "psync", "pvsync", "pvsync2", "mmap"))  # vsync joins requests
WAYS = ("read", "write")
LONGER = 3  # times the wait, the submission: a queue takes requests at once
LEAST_SLAT_NS = 5e3
FASTEST_NS = 6e3  # for a request: no disk on a bus answers within less
HELD_BYTES_PER_S = 1e6  # a writer that waits for each block, mostly
FLUSHED_BYTES_PER_S = 3.5e9  # through the page cache and onto a disk, one after the other
FEW_NS = 4e4  # a copy of some pages; flash takes longer for one
MEMORY_BYTES_PER_S = 2e9  # of one request after the other
FAST_BYTES_PER_S = 2e8  # what is slower than that waited for its disk most of the time
LEAST_S = 2.5  # of hdparm, which reads for three seconds if it can
FIXED_BYTES = 1 << 26  # that an old hdparm reads, however long it takes
SLOW_BYTES_PER_S = 8e6  # of a disk that the kernel reads by PIO


_RAW = late(r"/dev/(?:rdisk|ada|da|nvd|nda)\d")  # of macOS and FreeBSD, which do not cache them
FULL = (0.8, 1.08)  # of the jobs, always handing a request over
LEAST_TAKEN_NS, LEAST_UNSEEN_NS = 2e4, 1e5  # where nobody knows how busy the core was
OF_COPIES = 0.5  # of the time that requests are handed over: CPU time
BUSY = 70.0  # per cent of a core: then it is the core that submits


def submissions(report: Report) -> tuple[list[Result], float]:
    """What handing over takes, and how many requests there were a second."""
    taken = [
        (slat, count.value)
        for way in WAYS
        if (slat := report.only(f"{way} slat", "mean")) and slat.is_positive
        if (count := report.only(f"{way} operation rate", "mean")) and count.is_positive
    ]
    return [slat for slat, _ in taken], sum(count for _, count in taken)


def busy_with_submissions(report: Report) -> float:
    """How many jobs hand a request over at any time, on average (Little's law)."""
    slats = {way: report.only(f"{way} slat", "mean") for way in WAYS}
    counts = {way: report.only(f"{way} operation rate", "mean") for way in WAYS}
    pairs = ((slats[way], counts[way]) for way in WAYS)
    return sum(slat.base_value * count.value / 1e9 for slat, count in pairs if slat and count)


def is_handing_over(report: Report) -> bool:
    """Whether the jobs of fio do nothing but hand requests over, though the core is not busy and
    the requests are not done by that."""
    if report.tool != "fio" or report.facts.get("queue_depth") == 1:
        return False
    slats, _ = submissions(report)
    waits = [own for way in WAYS if (own := report.only(f"{way} clat", "mean"))]
    if not slats or not waits:
        return False
    shares = [report.facts.get(f"cpu_{name}_percent") for name in ("user", "system")]
    is_seen = all(map(is_number, shares))
    if is_seen and sum(share for share in shares if share) >= BUSY:
        return False
    longest = max(slat.base_value for slat in slats)
    if longest < (LEAST_TAKEN_NS if is_seen else LEAST_UNSEEN_NS):
        return False
    if longest > LONGER * waits[0].base_value:
        return False
    return (
        FULL[0] <= busy_with_submissions(report) / (report.facts.get("processes") or 1) <= FULL[1]
    )


@rule
def page_cache(reports: Sequence[Report]) -> Iterator[Finding]:
    """Reads and writes of a file that the page cache answers, by fio or dd.

    Decided by the time that a request takes, which no disk has, or by where the time goes: a queue
    takes a request at once, the page cache does the whole copy before it returns.
    """
    unsynced: list[Report] = []
    for report in reports:
        if report.tool == "dd" and report.results:
            yield from _of_dd(report, unsynced, reports)
        elif report.tool == "fio":
            yield from _of_fio(report)
    if unsynced:
        fast = [own for own in unsynced if (copy_of(own).rate or 0.0) >= FAST_BYTES_PER_S]
        copies = list(map(copy_of, fast or unsynced))
        copy = copies[0]
        words: dict[str, Any] = {"copy": copy, "target": (fast or unsynced)[0].facts["output"]}
        is_bsd = copy.unit == "B/s"  # as bytes/sec; not all of them have these options
        words |= {"asked": "bsd", "advice": "sync"} if is_bsd else {"asked": "gnu", "advice": "add"}
        kind = "not-synced" if fast else "not-waited-for"
        yield finding(kind, words, about=copies)


def _of_fio(report: Report) -> Iterator[Finding]:
    if report.facts.get("engine") != "null":
        for way in WAYS:
            wait = report.only(f"{way} clat", "mean") or report.only(f"{way} lat", "mean")
            taken = report.only(f"{way} slat", "mean")
            # Only engines with a queue print slat.
            queued = report.facts.get("engine", "libaio" if taken else "") in QUEUEING
            if wait is None or not wait.is_positive:
                continue
            if taken and queued and taken.base_value > max(LONGER * wait.base_value, LEAST_SLAT_NS):
                times = taken.base_value / wait.base_value
                words = {"taken": taken, "wait": wait, "times": times, "way": way}
                if _is_of_memory(report, way, taken.base_value) and not _is_off_cpus(report):
                    yield finding("submitted-at-once", words)
                else:
                    yield finding("done-while-submitted", words)
            elif not queued and wait.base_value < FASTEST_NS:
                yield finding("too-soon", wait=wait, way=way)
            else:
                continue
            return


def _is_off_cpus(report: Report) -> bool:
    """Whether jobs use far less CPU time than they hand requests over: a copy in memory is work
    of a CPU, and what takes that time waits."""
    shares = [report.facts.get(f"cpu_{name}_percent") for name in ("user", "system")]
    if not all(map(is_number, shares)):
        return False
    taken = 100 * busy_with_submissions(report) / (report.facts.get("processes") or 1)
    return sum(share for share in shares if share) < OF_COPIES * taken


def _is_of_memory(report: Report, way: str, taken_ns: float) -> bool:
    """Whether requests are handed over at a rate that only memory has."""
    rate, count = (report.only(f"{way} {kind}", "mean") for kind in ("bandwidth", "operation rate"))
    size = report.facts.get("block_bytes")
    if rate and count and count.is_positive:
        size = (rate.rate or 0.0) / count.value
    is_fast = is_number(size) and 1e9 * size / taken_ns >= MEMORY_BYTES_PER_S
    return taken_ns < FEW_NS or is_fast


def _of_dd(report: Report, unsynced: list[Report], reports: Sequence[Report]) -> Iterator[Finding]:
    """Copies that had no disk in them; those whose clock stopped before the data was on the disk
    are added to `unsynced`."""
    copy = copy_of(report)
    source, target = str(report.facts.get("input", "")), str(report.facts.get("output", ""))
    if "flags" not in report.facts:
        return
    if report.facts["flags"]:
        is_file = target and not target.startswith("/dev/")
        is_direct = "direct" in str(report.facts["flags"])
        most = ABOVE_DISKS_BYTES_PER_S if is_direct else FLUSHED_BYTES_PER_S
        if is_file and (copy.rate or 0.0) > most:
            yield finding("synced-in-memory", copy=copy, target=target)
        return
    is_gone = target.startswith(NOWHERE)
    if is_cached_read(report):
        again = True if report.facts.get("is_read_again") else None
        words = {"copy": copy, "source": source, "again": again}
        if against := doubts(report, reports):
            words |= dict.fromkeys(("waited", "before", "size")) | against
            yield finding("read-partly-from-cache", words, about=[copy])
        else:
            yield finding("read-from-cache", words)
        return
    if source.startswith("/dev/zero") and is_gone:
        yield finding("no-disk", copy=copy)
    elif target and not is_gone and not _RAW.match(target) and not _is_slow(copy):
        unsynced += [] if report.facts.get("file_system") else [report]


def _is_slow(copy: Result) -> bool:
    """Whether hardly anything of a copy can wait in the page cache: its writer waits already."""
    return 0 < (copy.rate or 0.0) < HELD_BYTES_PER_S


@rule
def shallow_queue(report: Report) -> Iterator[Finding]:
    """A queue depth that was asked for and that the engine cannot have."""
    depth, engine = report.facts.get("queue_depth", 1), report.facts.get("engine")
    alone = report.facts.get("one_in_flight_percent")
    if depth > 1 and engine in WAITING and report.results:
        about = [result for result in report.results if _is_rate(result)]
        words = {"depth": depth, "engine": engine, "line": report.line}
        yield finding("engine-waits", words, about=about, alone=alone)


def _is_rate(result: Result) -> bool:
    return result.name.endswith(("bandwidth", "operation rate")) and result.statistic == "mean"


@rule
def short_read(report: Report) -> Iterator[Finding]:
    """A timed read of a disk that ended too soon, or that no disk with DMA needs so long for."""
    if report.tool != "hdparm":
        return
    for read in report.results:
        if "disk" not in read.name or not read.rate:
            continue
        took = read.of.get("elapsed_s", LEAST_S)
        is_timed = read.of.get("bytes_moved") != FIXED_BYTES
        if took < LEAST_S and read.rate > SLOW_BYTES_PER_S and is_timed:
            yield finding("short-read", read=read, took=took)
        elif read.rate < SLOW_BYTES_PER_S:
            yield finding("without-dma", read=read)


ABOVE = 5.0  # times what the disk reads
SEEK_NS = 1e6  # a fault that memory answers takes microseconds


@rule
def above_disk(reports: Sequence[Report]) -> Iterator[Finding]:
    """Copies by dd at several times the rate at which hdparm reads the only disk of the log."""
    reads = [
        read
        for report in reports
        if report.tool == "hdparm"
        for read in report.results
        if "disk" in read.name and read.rate
    ]
    disks = {report.facts.get("disk") for report in reports if report.tool == "hdparm"}
    if len(disks) != 1 or not reads:
        return
    best = max(reads, key=lambda read: read.rate or 0.0)
    for report in reports:
        if report.tool == "dd" and not report.facts.get("flags") and not is_cached_read(report):
            for copy in report.results:
                times = (copy.rate or 0.0) / (best.rate or 1.0)
                if ABOVE <= times < 1e9:
                    yield finding("above-disk", copy=copy, read=best, times=times)
                    return


@rule
def page_from_disk(report: Report) -> Iterator[Finding]:
    """Page faults of lmbench that a disk answered."""
    for fault in report.results if report.tool == "lmbench" else ():
        if fault.name.startswith("Pagefaults on") and SEEK_NS <= fault.base_value < 1e12:
            yield finding("page-from-disk", fault=fault)

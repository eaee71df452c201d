"""page-cache, shallow-queue: whether a figure is one of a disk, and how much was asked at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# Engines of fio that hand a request over and go on, and those that wait for each.
QUEUEING = frozenset(("libaio", "io_uring", "posixaio", "solarisaio", "windowsaio"))
WAITING = frozenset(("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"))
WAYS = ("read", "write")
LONGER = 3  # times the wait, the submission: a queue takes requests at once
LEAST_SLAT_NS = 5e3
FASTEST_NS = 6e3  # for a request: no disk on a bus answers within less
CACHED_BYTES_PER_S = 15e9  # of a file: more than a disk on four lanes of PCIe 5
FLUSHED_BYTES_PER_S = 3.5e9  # through the page cache and onto a disk, one after the other
LEAST_S = 2.5  # of hdparm, which reads for three seconds if it can
FIXED_BYTES = 1 << 26  # that an old hdparm reads, however long it takes
SLOW_BYTES_PER_S = 8e6  # of a disk that the kernel reads by PIO


@rule
def page_cache(reports: Sequence[Report]) -> Iterator[Finding]:
    """Reads and writes of a file that the page cache answers, by fio or dd.

    Decided by the time that a request takes, which no disk has, or by where the time goes: a queue
    takes a request at once, the page cache does the whole copy before it returns.
    """
    unsynced: list[Report] = []
    for report in reports:
        if report.tool == "dd":
            yield from _of_dd(report, unsynced)
        elif report.tool == "fio":
            yield from _of_fio(report)
    if unsynced:
        copies = [report.results[0] for report in unsynced]
        words = {"copy": copies[0], "target": unsynced[0].facts["output"]}
        yield finding("not-synced", words, about=copies, left=len(copies) - 1 or None)


def _of_fio(report: Report) -> Iterator[Finding]:
    if report.facts.get("engine") != "null":
        for way in WAYS:
            wait = report.only(f"{way} clat", "mean") or report.only(f"{way} lat", "mean")
            taken = report.only(f"{way} slat", "mean")
            queued = report.facts.get("engine") in QUEUEING
            if wait is None or not wait.is_positive:
                continue
            if taken and queued and taken.base_value > max(LONGER * wait.base_value, LEAST_SLAT_NS):
                times = taken.base_value / wait.base_value
                yield finding("submitted-at-once", taken=taken, wait=wait, times=times, way=way)
            elif not queued and wait.base_value < FASTEST_NS:
                yield finding("too-soon", wait=wait, way=way)
            else:
                continue
            return


def _of_dd(report: Report, unsynced: list[Report]) -> Iterator[Finding]:
    """Copies that had no disk in them; those whose clock stopped before the data was on the disk
    are added to `unsynced`."""
    copy = report.results[0]
    source, target = str(report.facts.get("input", "")), str(report.facts.get("output", ""))
    if "flags" not in report.facts:
        return
    if report.facts["flags"]:
        is_file = target and not target.startswith("/dev/")
        if is_file and (copy.rate or 0.0) > FLUSHED_BYTES_PER_S:
            yield finding("synced-in-memory", copy=copy, target=target)
        return
    is_read = target.startswith("/dev/null") and source and not source.startswith("/dev/")
    if is_read and (report.facts.get("is_read_again") or (copy.rate or 0.0) > CACHED_BYTES_PER_S):
        yield finding("read-from-cache", copy=copy, source=source)
        return
    if source.startswith("/dev/zero") and target.startswith("/dev/null"):
        yield finding("no-disk", copy=copy)
    elif target and not target.startswith("/dev/null"):
        unsynced.append(report)


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
        if report.tool == "dd" and report.facts.get("flags", "") == "":
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

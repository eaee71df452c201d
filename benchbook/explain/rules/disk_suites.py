"""flushed, page-cache: what the tests of files by sysbench, iozone and CrystalDiskMark measured,
and tables of such figures; losses on a path by mtr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Effect, Finding

LEAST_FLUSHES, MOSTLY = 0.3, 5.0  # for each write


@rule
def flushes_of_files(report: Report) -> Iterator[Finding]:
    """Calls of fsync by sysbench fileio that are as many as its writes: it flushes all files.

    Decided by its own counts, or by an interval where the end was cut off.
    """
    if report.tool != "sysbench":
        return
    flushes = report.only("file fsyncs", "mean") or next(
        (own for own in report.called("file fsyncs") if own.is_positive), None
    )
    every, files = report.facts.get("flushed_every"), report.facts.get("files")
    if flushes is None or not flushes.is_positive:
        return
    writes = report.only("file writes", "mean")
    words: dict[str, Any] = {"flushes": flushes, "every": every, "files": files}
    if writes and writes.is_positive and flushes.value >= LEAST_FLUSHES * writes.value:
        words |= {"writes": writes, "times": flushes.value / writes.value}
        is_most = words["times"] >= MOSTLY
        words["so"] = "most" if is_most else "part"
        effect: Effect = "explains" if is_most else "informs"
        yield finding("flushes-all-files", words, about=[flushes], effect=effect)
    elif writes is None and every == 1:
        words |= {"writes": None, "times": None, "so": "most"}
        yield finding("flushes-all-files", words, about=[flushes])


@rule
def buffered_files(report: Report) -> Iterator[Finding]:
    """Files that sysbench opened without O_DIRECT, as it says."""
    flags = str(report.facts.get("open_flags", ""))
    rates = [own for own in report.results if own.name.startswith("file ") and own.rate]
    reads = [own for own in rates if "read" in own.name]
    writes_only = str(report.facts.get("operation", "")).endswith("write")  # and no read or r/w
    if report.tool == "sysbench" and flags in ("(none)", "0", "none") and reads and not writes_only:
        yield finding("files-buffered", first=reads[0], about=reads)


AGAIN, CACHED_BYTES_PER_S, PARENT = 4.0, 6e9, 3.0


@rule
def cached_files(report: Report) -> Iterator[Finding]:
    """Files of iozone that lie in the page cache, by rates that only memory has, or by a second
    read far faster than the first; and sums of processes that leave the end out."""
    if report.tool != "iozone":
        return
    rates = [own for own in report.results if own.is_positive and own.rate]
    own_rates = [own for own in rates if own.of.get("end") != "parent"]
    by = {(own.name, own.of.get("file_bytes"), own.of.get("block_bytes")): own for own in own_rates}
    for (name, size, block), again in by.items():
        first = by.get(("read", size, block)) or by.get(("readers", size, block))
        is_again = name in ("reread", "re-readers", "random read", "random readers")
        if not is_again or first is None or report.facts.get("flags"):
            continue
        if (again.rate or 0.0) >= AGAIN * (first.rate or 1.0):
            yield finding("read-again-from-memory", first=first, again=again)
            break
    fast = [own for own in own_rates if (own.rate or 0.0) >= CACHED_BYTES_PER_S]
    if fast and not report.facts.get("flags"):
        yield finding("files-in-memory", about=fast[:3], first=fast[0])
    parents = {own.name: own for own in rates if own.of.get("end") == "parent"}
    for own in own_rates:
        parent = parents.get(own.name)
        if parent and own.value >= PARENT * parent.value:
            words = {"children": own, "parent": parent, "times": own.value / parent.value}
            yield finding("parent-far-below", words, size=report.facts.get("file_bytes"))
            return


_OF_DISK = late(r"(?i)\bdisk\b|\biozone\b|\bfile size\b|\bfio\b")


@rule
def suites_in_memory(report: Report) -> Iterator[Finding]:
    """Rates of a disk's test in a suite that only memory has."""
    if report.tool == "phoronix":
        for rate in report.being("mean"):
            if _OF_DISK.search(rate.name) and (rate.rate or 0.0) >= CACHED_BYTES_PER_S:
                yield finding("files-in-memory", first=rate)
                return


NO_FLASH_NS = 9e3  # for one read of 4 KiB: flash takes 20 us and more, Optane ten
SLOW_WRITE_NS = 2e6
_SMALL = 1 << 12
_LABEL = late(
    r"(?i)^(?:rnd|random|rand)?[ -]?4 ?k(?:i?b)?"
    r"(?:[ -]?(?:q|qd) ?=? ?1(?:[ -]?t ?=? ?1)?)?$"
)


@rule
def single_requests(report: Report) -> Iterator[Finding | str]:
    """The time of one request that a rate of 4 KiB at depth 1 makes, and what it says of the
    device."""
    slow: list[tuple[Result, float]] = []
    for rate in report.results:
        if not _is_single(report, rate) or not rate.rate:
            continue
        each = 1e9 * _SMALL / rate.rate
        way = rate.name.lower()
        if "read" in way and each < NO_FLASH_NS:
            yield finding("too-soon-for-flash", rate=rate, each_ns=each)
            return
        if "write" in way and each >= SLOW_WRITE_NS:
            slow.append((rate, each))
    if slow:
        rate, each = max(slow, key=lambda own: own[1])
        others = [
            own for own in report.results if own.name == rate.name and _is_single(report, own)
        ]
        words = {"rate": rate, "each_ns": each, "per_s": 1e9 / each, "other": None}
        yield finding("writes-wait", words, about=[rate, *others[:0]])
        return
    if report.tool == "crystaldiskmark":
        for rate in report.results:
            if _is_single(report, rate) and rate.rate:
                each_us = 1e6 * _SMALL / rate.rate
                yield (
                    f"line {rate.line}: {rate.value:g} {rate.unit} at one request of 4 KiB at a "
                    f"time shows its time, {number(each_us)} us, and no limit of the device"
                )
                return


def _is_single(report: Report, rate: Result) -> bool:
    """Whether it is a rate of 4 KiB, one at a time: by its columns, or by the label of its row."""
    if not rate.is_positive or rate.rate is None:
        return False
    if report.tool == "crystaldiskmark":
        size, depth = rate.of.get("block_bytes"), rate.of.get("queue_depth")
        return size == _SMALL and depth == 1 and rate.of.get("pattern") == "random"
    label = str(rate.of.get("label", ""))
    return report.tool == "table" and _LABEL.match(label.strip()) is not None


LEAST_HOPS, LOST, FEW_PROBES = 2, 5.0, 10


@rule
def loss_of_hop(report: Report) -> Iterator[Finding | str]:
    """Losses of mtr at a hop behind which nothing is lost: that router limits its own answers."""
    if report.tool != "mtr":
        return
    losses = [own for own in report.called("loss") if own.is_number]
    if len(losses) < LEAST_HOPS:
        return
    last = losses[-1]
    within = [own for own in losses[:-1] if own.value >= LOST]
    if within and last.value < LOST / 5:
        words = {"hop": within[0], "last": last, "left": len(within) - 1 or None}
        yield finding("answers-limited", words, about=within)
    elif last.value >= LOST:
        first = last
        for own in reversed(losses):
            if own.value < LOST / 2:
                break
            first = own
        sent = next((own for own in report.called("packets sent") if own.line == last.line), None)
        yield finding("lost-on-path", first=first, last=last, sent=sent, about=[first, last])


@rule
def few_probes(report: Report) -> Iterator[str]:
    """A note for a path that was probed ten times or less."""
    sent = [own.value for own in report.called("packets sent") if own.is_number]
    most = max(sent, default=0.0)
    if report.tool == "mtr" and 1 <= most <= FEW_PROBES:
        each, more = (f"{most:g}", "") if most == min(sent) else (f"at most {most:g}", " or more")
        yield (
            f"line {report.line}: {each} packets to each hop: one that is lost is "
            f"{100 / most:.0f} %{more}, and rare losses are not seen (mtr -r -c 200)"
        )

"""blocked-submission, closed-loop, way-to-disk: what requests to a disk wait for on their way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.storage import (
    WAITING,
    WAYS,
    busy_with_submissions,
    is_handing_over,
    submissions,
)
from benchbook.findings import Finding


@rule
def submission_blocks(report: Report) -> Iterator[Finding]:
    """Jobs of fio that are always handing a request over.

    Decided by slat times the rate, which is the number of jobs in that case (Little's law), where
    the core was not busy with it.
    """
    if not is_handing_over(report):
        return
    slats, per_s = submissions(report)
    jobs = report.facts.get("processes") or 1
    words: dict[str, Any] = {"taken": max(slats, key=lambda slat: slat.base_value), "per_s": per_s}
    words |= {"busy": busy_with_submissions(report), "jobs": jobs}
    yield finding("submission-blocks", words, depth=report.facts.get("queue_depth"))


DEEPER, SAME_RATE, LEAST_RATE = 1.9, 0.1, 50.0
_ALIKE = ("engine", "operation", "block_bytes", "disk")


@rule
def depth_without_effect(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs of fio that differ in the requests under way, and not in their rate."""
    timed = [
        (float(depth * (report.facts.get("processes") or 1)), rate, report)
        for report in reports
        if report.tool == "fio" and report.facts.get("engine") not in WAITING
        if is_number(depth := report.facts.get("queue_depth")) and report.facts.get("block_bytes")
        if (rate := _rate(report))
    ]
    for several in grouped(timed, lambda own: tuple(map(own[2].facts.get, _ALIKE))).values():
        ordered = sorted(several, key=lambda own: own[0])
        for (few, first, _), (many, second, _) in pairwise(ordered):
            is_same = abs(second.value / first.value - 1) <= SAME_RATE
            if many >= DEEPER * few and few > 1 and is_same and first.value >= LEAST_RATE:
                words = {"few": few, "many": many, "first": first, "second": second}
                yield finding("depth-without-effect", words)
                return


_COUNTS = {"queue_depth": "requests at a time", "concurrency": "clients at a time"}
_PER_SECOND = ("operations/s", "requests/s", "transactions/s", "queries/s")
LEAST_COUNTS, MOST_COUNTS, GAIN = 3, 200, 1.1


@rule
def no_more_at_a_time(report: Report) -> Iterator[Finding]:
    """A table of rates by requests or clients at a time, whose rate grows no more from one on.

    Decided by the rates: none of the larger numbers gives a tenth more, up to twice it and beyond.
    """
    for counts, called in _COUNTS.items():
        if report.tool != "table" or counts not in report.columns:
            continue
        rates = [
            own
            for own in report.knowing(counts)
            if own.is_positive and (own.rate is not None or own.unit in _PER_SECOND)
        ]
        for own in grouped(rates, lambda rate: (rate.name, rate.unit, _plain(rate))).values():
            sweep = sorted({int(rate.of[counts]): rate for rate in own}.items())
            if not LEAST_COUNTS <= len(sweep) <= MOST_COUNTS:
                continue
            at = next(
                index
                for index, (_, rate) in enumerate(sweep)
                if max(later.value for _, later in sweep[index:]) <= GAIN * rate.value
            )
            (full, best), (most, last) = sweep[at], sweep[-1]
            if at > 0 and most >= 2 * full:
                words = {"full": full, "most": most, "best": best, "last": last, "called": called}
                yield finding("no-more-at-a-time", words, about=[best, last])
                return


def _plain(rate: Result) -> str:
    """What a row is called, without its numbers."""
    words = str(rate.of.get("label") or "").split()
    return " ".join(word for word in words if not word[0].isdigit())


SEQUENTIAL, SMALL_BYTES, MANY = ("read", "write"), 1 << 14, 1000.0


@rule
def sequential_requests(report: Report) -> Iterator[str]:
    """A note for small requests of fio one behind the other, whose number is no number of seeks."""
    size, rate = report.facts.get("block_bytes"), _rate(report)
    is_sequential = report.tool == "fio" and report.facts.get("operation") in SEQUENTIAL
    if is_sequential and rate and is_number(size) and size <= SMALL_BYTES and rate.value >= MANY:
        yield (
            f"line {rate.line}: these requests are sequential (rw={report.facts['operation']}). "
            "So their number per second is the bandwidth in small pieces, and not what random "
            "requests reach"
        )


def _rate(report: Report) -> Result | None:
    """The one rate in requests of a run that only reads or only writes."""
    rates = [
        own
        for way in WAYS
        if (own := report.only(f"{way} operation rate", "mean")) and own.is_positive
    ]
    return rates[0] if len(rates) == 1 else None


_IN_MEMORY = ("tmpfs", "ramfs", "rootfs")


@rule
def file_systems(reports: Sequence[Report]) -> Iterator[Finding]:
    """Files on a share of another host, or in memory, by what the log says of the mounts."""
    told = set[str]()
    for report in reports:
        kind, figure = report.facts.get("file_system"), next(iter(report.results), None)
        if not kind or figure is None or kind in told:
            continue
        told.add(str(kind))
        words = {"kind": kind, "line": report.facts["file_system_line"]}
        words["path"] = report.facts["file_path"]
        name = "file-in-memory" if kind in _IN_MEMORY else "file-on-share"
        yield finding(name, words, figure=figure)

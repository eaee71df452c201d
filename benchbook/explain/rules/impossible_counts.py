"""inconsistent-report: counts and shares of events that no counter can have."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.counters_of_runs import ALL_THE_TIME, SOURCES
from benchbook.findings import Finding

FARTHEST = 2.0**62  # more than ten years of cycles of one processor
ALL = 100.5  # %
WHOLE = 0.05  # how far shares of all of the time are from it
# L1-dcache has a sign of its own, which names both counts.
_OF_ALL = late(
    r"^(?!L1-dcache).* of all (?:cache refs|LL-cache|branches|dTLB cache|iTLB cache|L1-icache)"
)


@rule
def wrapped_counts(report: Report) -> Iterator[Finding]:
    """Counts beyond what any counter reaches: numbers below 0 without their sign.

    Decided by the count: 2^62 cycles take a processor more than ten years.
    """
    if report.tool in SOURCES:
        wrapped = [count for count in report.results if count.unit == "events"]
        wrapped = [count for count in wrapped if count.is_number and count.value >= FARTHEST]
        if wrapped:
            words = {"count": wrapped[0], "left": len(wrapped) - 1 or None}
            yield finding("wrapped-count", words, about=wrapped)


@rule
def shares_above_all(report: Report) -> Iterator[Finding]:
    """Shares of misses above 100 %, as perf prints them.

    Decided by the number alone.
    """
    if report.tool in SOURCES:
        for share in report.results:
            if share.unit == "%" and share.value > ALL and _OF_ALL.match(share.name):
                yield finding("share-above-all", share=share)
                return


@rule
def asked_twice(report: Report) -> Iterator[Finding]:
    """An event that was asked for several times in one run, so that it took turns with itself.

    Decided by its name, and by shares of the time that add up to all of it.
    """
    events: dict[tuple[str, object], list[Result]] = {}
    for event in report.results if report.tool == "perf-stat" else ():
        share = event.of.get("running_fraction")
        is_part = is_number(share) and share < ALL_THE_TIME and event.unit == "events"
        if is_part and event.is_positive and "interval_end_s" not in event.of:
            events.setdefault((event.name, event.of.get("place")), []).append(event)
    for (name, _), several in events.items():
        whole = sum(event.of["running_fraction"] for event in several)
        if len(several) > 1 and abs(whole - 1) <= WHOLE:
            words = {"name": name, "times": len(several), "first": several[0]}
            yield finding("asked-twice", words, last=several[-1], about=several)
            return


@rule
def rates_below_none(report: Report) -> Iterator[Finding]:
    """Rates and volumes below 0 that a tool made of the difference of two counts.

    Decided by the number alone.
    """
    if report.tool == "likwid-perfctr":
        below = [
            metric
            for metric in report.results
            if metric.of.get("kind") == "metric" and metric.is_number and metric.value < 0
        ]
        if below:
            words = {"metric": below[0], "left": len(below) - 1 or None}
            yield finding("rate-below-none", words, about=below)

"""absent-counter, inconsistent-report: counts of a place (a core, an interval, a virtual machine)
that are not what they seem."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.inconsistent_counters import METRICS, quotient
from benchbook.findings import Finding

PERF, LIKWID = "perf-stat", "likwid-perfctr"
_HARDWARE = late(
    r"^(?!.*:\w*G)(?:cpu\w*/)?(?:(?:cpu-|ref-)?cycles|instructions|branches|branch-instructions)"
    r"(?:[/:]\w*)*$"
)
LEAST_EVENTS = 2
_OF_SOCKET = late(r"^(?:Memory |DRAM |Energy(?! [Cc]ore)|Power(?! [Cc]ore))")


@rule
def zeros_of_machine(report: Report) -> Iterator[Finding]:
    """A program that ran, and of which no event of the processor has a count above 0.

    Decided by cycles, instructions and branches, of every kind of core that was asked: each program
    has all of them.
    """
    if report.tool != PERF or "interval_end_s" in report.columns:
        return
    events = [
        own
        for own in report.results
        if own.unit == "events" and _HARDWARE.match(own.name) and own.of.get("state") == "ok"
    ]
    if len(events) >= LEAST_EVENTS and all(own.value == 0 for own in events):
        words = {"first": events[0], "last": events[-1]}
        yield finding("zeros-of-machine", words, about=events)


@rule
def first_core_of_socket(report: Report) -> Iterator[Finding]:
    """Figures of a whole socket that one core of it has, and 0 in the columns of all others."""
    if report.tool != LIKWID or "core" not in report.columns:
        return
    for (name, statistic, _), several in report.groups.items():
        if statistic or not _OF_SOCKET.match(name):
            continue
        by_row: dict[tuple[object, ...], list[Result]] = {}
        for own in several:
            key = own.line, own.of.get("group"), own.of.get("region")
            by_row.setdefault(key, []).append(own)
        for row in by_row.values():
            some = [own for own in row if own.is_positive]
            none = [own for own in row if own.value == 0]
            if some and len(none) > len(some) and len(some) + len(none) == len(row):
                words = {"name": name, "some": some[0], "none": len(none)}
                yield finding("counted-by-first-core", words, about=[some[0]])
                return


@rule
def memory_of_socket(report: Report) -> Iterator[str]:
    """A note for the traffic of memory of a run on one core: it is that of the whole socket."""
    if report.tool != LIKWID or "core" not in report.columns:
        return
    rates = [own for own in report.called("Memory bandwidth") if own.is_positive]
    if len(rates) != 1:
        return
    beside = [own for own in report.called("Memory bandwidth") if own.line == rates[0].line]
    if len(beside) == 1:
        yield (
            f"line {rates[0].line}: likwid counts the memory once for each socket (or part of it), "
            "by the first of its cores that it measures. So this is the traffic of all that ran "
            "there, and a run on another core of the same socket may print 0"
        )


APART = 0.35  # of what the counts make: turns on the counters explain less
_RATIOS = (" insn per cycle", " of all branches", " of all L1-dcache hits", " of all cache refs",
           " of all L1-dcache accesses", " of all LL-cache hits")  # fmt: skip


@rule
def metrics_of_intervals(report: Report) -> Iterator[str]:
    """A note for a ratio that perf prints with an interval whose counts do not make it.

    Decided in the first interval that the log has, which is not the first of the run: of a whole
    run another rule asks.
    """
    if report.tool != PERF or "interval_end_s" not in report.columns:
        return
    counts: dict[tuple[object, ...], Result] = {}
    for own in report.results:
        if own.unit == "events":
            counts.setdefault((own.of.get("interval_end_s"), own.of.get("place"), own.name), own)
    for metric in report.results:
        end = next((end for end in _RATIOS if metric.name.endswith(end)), "")
        if not end or metric.unit == "events" or not metric.is_positive:
            continue
        name, below, times = METRICS[end]
        place = metric.of.get("interval_end_s"), metric.of.get("place")
        if metric.name.removesuffix(end) != name:
            continue
        parts = [counts.get((*place, part)) for part in (name, below)]
        if parts[0] is None or parts[1] is None:
            continue
        made = quotient(parts[0], parts[1], times)
        if made and abs(metric.value - made) > APART * made + 2 * metric.half + 0.01:
            words = {"metric": metric, "above": parts[0], "below": parts[1], "made": made}
            shares = [part.of.get("running_fraction") for part in parts if part]
            if all(share is not None and share < 0.99 for share in shares):
                words |= {"above_share": shares[0], "below_share": shares[1]}
            else:
                words |= {"above_share": None, "below_share": None}
            yield finding("quotient-of-interval", words, about=[metric]).explanation
            return


_RATIO = late(r"(?i)\b(?:miss|misprediction|hit) ratio$")
ONE = 1.005  # printed digits


@rule
def ratios_above_one(report: Report) -> Iterator[Finding]:
    """Shares of misses or hits above all, as likwid makes them of two counts."""
    if report.tool != LIKWID:
        return
    for own in report.results:
        if _RATIO.search(own.name) and own.is_number and own.value > ONE and not own.statistic:
            yield finding("ratio-above-one", ratio=own)
            return

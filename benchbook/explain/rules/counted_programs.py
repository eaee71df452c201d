"""few-samples, branch-mispredictions, memory-latency: what gprof, Valgrind and strace count of a
program, and what they do to its times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

ENOUGH = 500  # samples
GPROF, CACHES, STRACE = "gprof", "cachegrind", "strace"


@rule
def ticks_of_profile(report: Report) -> Iterator[Finding]:
    """A profile of gprof that has few samples, or none."""
    if report.tool != GPROF or "samples_of_profile" not in report.facts:
        return
    count, step = report.facts["samples_of_profile"], report.facts["sample_s"]
    if count < ENOUGH and report.results:
        whole = report.facts.get("profile_sum_s", 0.0)
        words = {"first": report.results[0], "count": count, "whole": whole, "step": step}
        yield finding("few-ticks-of-profile", words, none=True if count == 0 else None)


PER_BRANCH, PER_MISS = 15, 100  # cycles, as round figures of today's processors
LEAST_COST = 0.3  # cycles for each instruction
LEAST_OF_MISSES = 0.5  # cycles for each instruction, which takes about as long without them
START = 1e7  # instructions: shorter programs mostly touch their memory for the first time
LEAST_SHARE = 0.05  # of the branches


@rule
def simulated_costs(report: Report) -> Iterator[Finding]:
    """Branches and accesses of which so many fail in the simulation that they take the time."""
    if report.tool != CACHES:
        return
    (instructions, branches, wrong, accesses, misses) = (
        next(iter(report.called(name)), None)
        for name in (
            "instructions", "branches", "mispredicted branches", "data accesses", "LLd misses",
        )
    )  # fmt: skip
    if instructions is None or not instructions.is_positive:
        return
    if branches and wrong and branches.is_positive:
        share, cost = wrong.value / branches.value, PER_BRANCH * wrong.value / instructions.value
        if share >= LEAST_SHARE and cost >= LEAST_COST:
            yield finding("simulated-mispredictions", wrong=wrong, branches=branches, share=share)
    # A write hardly waits for its line, so where both are known reads count.
    read = next(iter(report.called("LLd misses of reads")), None)
    missing, misses = ("reads", read) if read else ("accesses", misses)
    if accesses and misses and accesses.is_positive:
        cost = PER_MISS * misses.value / instructions.value
        if cost >= LEAST_OF_MISSES and instructions.value >= START:
            words = {"misses": misses, "accesses": accesses, "missing": missing, "cost": cost}
            yield finding("simulated-misses", words, share=misses.value / accesses.value)


MOST_CALLS, LEAST_CALLS = 0.8, 10_000
FAILED, LEAST_FAILED = 0.3, 1000
CLOCKS = ("gettimeofday", "clock_gettime", "time")


@rule
def calls_of_program(report: Report) -> Iterator[str]:
    """Notes on a call that makes up nearly all calls, and on one that mostly fails."""
    if report.tool != STRACE:
        return
    calls = [own for own in report.results if own.name.endswith(" calls") and "label" in own.of]
    whole = sum(own.value for own in calls)
    most = max(calls, key=lambda own: own.value, default=None)
    if most is not None and most.value >= max(LEAST_CALLS, MOST_CALLS * whole):
        words: dict[str, Any] = {"most": most, "name": most.of["label"]}
        words["clock"] = "" if words["name"] in CLOCKS else None
        yield finding("one-call", words, share=most.value / whole).explanation
    for own in calls:
        errors = next(iter(report.called(f"{own.of['label']} errors")), None)
        if errors and errors.value >= max(LEAST_FAILED, FAILED * own.value):
            words = {"errors": errors, "calls": own, "name": own.of["label"]}
            yield finding("calls-fail", words).explanation
            return


@rule
def usage_of_nothing(report: Report) -> Iterator[Finding]:
    """Zeros of `time -v` that no program has."""
    if report.tool != "time":
        return
    resident, faults = report.only("maximum resident set"), report.only("minor faults")
    if resident is not None and faults is not None and resident.value == faults.value == 0:
        yield finding("usage-not-counted", resident=resident, faults=faults)


PAGES, PER_SECOND = 1000, 20.0  # pages read from disks: in all, in each second


@rule
def pages_from_disks(report: Report) -> Iterator[Finding]:
    """So many pages read from disks that waiting for them takes time."""
    if report.tool != "time":
        return
    pages, elapsed = report.only("major faults"), report.only("time elapsed")
    if pages is None or elapsed is None or pages.value < PAGES or elapsed.base_value <= 0:
        return
    per_second = pages.value / elapsed.base_value * 1e9
    if per_second >= PER_SECOND:
        yield finding("pages-from-disks", pages=pages, elapsed=elapsed, per_second=per_second)


C2C, LEAST_RECORDS, LEAST_HITM = "perf-c2c", 1000, 0.01
_SOURCES = ("hitm", "llc", "dram", "remote", "peer")


@rule
def sources_of_loads(report: Report) -> Iterator[Finding]:
    """Records of perf c2c without any source, and loads that found their line in another core."""
    if report.tool != C2C:
        return
    records, loads = report.only("total records"), report.only("load operations")
    sources = [own for own in report.results if any(word in own.name for word in _SOURCES)]
    has_none = len(sources) > 3 and not any(own.value for own in sources)
    if records and records.value >= LEAST_RECORDS and has_none:
        yield finding("no-data-source", records=records)
    hitm = max(
        (own for own in sources if own.name.startswith("load") and "hitm" in own.name),
        key=lambda own: own.value,
        default=None,
    )
    if hitm and loads and loads.is_positive and hitm.value >= LEAST_HITM * loads.value:
        yield finding("lines-shared", hitm=hitm, loads=loads, share=hitm.value / loads.value)


_SLOWED = {CACHES: "under-simulation", STRACE: "under-strace"}
NOT_TIMED = (*_SLOWED, GPROF, "compiler", "perf-stat")


@rule
def times_of_watched(reports: Sequence[Report]) -> Iterator[Finding]:
    """Times and rates that a program printed while Valgrind or strace watched it.

    Decided by where they stand: between the lines of Valgrind, or below a command with strace.
    """
    for report in reports:
        kind, first = _SLOWED.get(report.tool), report.facts.get("watched_line")
        if kind is None or not isinstance(first, int) or not report.results:
            continue
        last = report.results[0].line
        figures = [
            own
            for other in reports
            if other.tool not in NOT_TIMED
            for own in other.results
            if first < own.line < last and (own.is_time or own.rate is not None)
        ]
        if figures:
            yield finding(kind, figure=figures[-1], line=last)
            return

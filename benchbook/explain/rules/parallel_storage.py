"""Queues, stalls and averages of diskspd, IOR and zpool iostat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Effect, Finding

FULL, DEEP, LONG_NS = (0.85, 1.1), 8, 1e6


@rule
def full_queue(report: Report) -> Iterator[Finding | str]:
    """Latencies of diskspd that are the depth of its queue divided by the rate (Little's law)."""
    depth = report.facts.get("queue_depth")
    rate, time = (report.only(f"total {kind}", "mean") for kind in ("operation rate", "latency"))
    if report.tool != "diskspd" or not depth or rate is None or time is None:
        return
    under_way = rate.value * time.base_value / 1e9
    if not FULL[0] * depth <= under_way <= FULL[1] * depth:
        return
    words: dict[str, Any] = {"rate": rate, "time": time, "depth": depth}
    words["each_ns"] = 1e9 / rate.value if rate.value else 0.0
    if depth >= DEEP and time.base_value >= LONG_NS:
        yield finding("queue-is-latency", words, about=[time])
    elif depth == 1:
        yield (
            f"line {time.line}: one request was under way, so {rate.value:,.6g} a second is one "
            f"over its time of {time.value:g} {time.unit}, and no limit of the device"
        )


BELOW, SHORT_OF, FEW_UNDER_WAY = 0.98, 0.9, 0.5


@rule
def shared_files(report: Report) -> Iterator[Finding | str]:
    """IOR's largest rate below that of a repetition, and writes that ended before their size."""
    if report.tool != "ior":
        return
    for way in ("write", "read"):
        most = report.only(way, "max")
        samples = [own for own in report.called(way) if own.statistic == "sample"]
        best = max(samples, key=lambda own: own.value, default=None)
        if most and best and most.value < BELOW * best.value:
            yield finding("largest-below", most=most, best=best, about=[most])
        whole = report.facts.get("whole_bytes")
        for own in samples:
            took = own.of.get("elapsed_s")
            moved = (own.rate or 0.0) * took if took else 0.0
            if took and whole and 0 < moved < SHORT_OF * whole:
                part = {"moved": moved, "whole": whole, "took": took}
                yield finding("ended-by-time", part, rate=own, about=[own])
                break
    yield from _latency(report)


def _latency(report: Report) -> Iterator[Finding]:
    """A latency that leaves the tasks idle for most of the time."""
    tasks = report.facts.get("processes")
    for way in ("write", "read"):
        rate, time = report.only(f"{way} operation rate"), report.only(f"{way} latency")
        if tasks and rate and time and rate.is_positive and time.is_positive:
            under_way = rate.value * time.base_value / 1e9
            if under_way < FEW_UNDER_WAY * tasks:
                words = {"rate": rate, "time": time, "tasks": tasks, "under_way": under_way}
                each = 1e9 * tasks / rate.value
                yield finding("latency-too-low", words, each_ns=each, about=[time])
                return


QUIET, BURSTS, LEAST_ROWS = 0.05, 0.25, 6
WAITS, LEAST_WAIT_NS = 5.0, 2e7


@rule
def pool_over_time(report: Report) -> Iterator[Finding]:
    """Pools of ZFS: averages since the start of the system, bursts, and waits before the disk."""
    if report.tool != "zpool-iostat" or not report.results:
        return
    intervals = {own.of.get("interval") for own in report.results}
    first = report.results[0]
    if len(intervals) == 1:
        asked = report.facts.get("has_interval")
        if asked is not True:
            kind = "no-interval" if asked is False else "one-report"
            effect: Effect = "biases" if asked is False else "informs"
            yield finding("since-start", kind=kind, first=first, about=[first], effect=effect)
    yield from _bursts([own for own in report.called("write rate") if own.of.get("interval")])
    yield from _waits(report)


def _bursts(rates: list[Result]) -> Iterator[Finding]:
    """Seconds with nothing between seconds with much."""
    if len(rates) < LEAST_ROWS:
        return
    most = max(rates, key=lambda own: own.value)
    none = [own for own in rates if own.value <= QUIET * most.value]
    if most.value and BURSTS * len(rates) <= len(none) <= (1 - BURSTS) * len(rates):
        mean = sum(own.value for own in rates) / len(rates)
        words: dict[str, Any] = {"none": len(none), "every": len(rates)}
        words |= {"mean": mean, "most": most.value}
        yield finding("in-bursts", words, first=none[0], about=none[:1])


def _waits(report: Report) -> Iterator[Finding]:
    """Reads alone: writes wait for their group, and no program for them."""
    totals, disks = (report.called(f"{kind} read wait") for kind in ("total", "disk"))
    by_line = {own.line: own for own in disks}
    for total in totals:
        disk = by_line.get(total.line)
        if disk and total.base_value >= max(LEAST_WAIT_NS, WAITS * disk.base_value):
            words: dict[str, Any] = {"total": total, "disk": disk}
            words["times"] = number(total.base_value / disk.base_value)
            yield finding("waits-above-disk", words, about=[total])
            return


@rule
def one_round_of_tree(report: Report) -> Iterator[str]:
    """A note for a summary of mdtest of one iteration, whose deviations are 0."""
    if report.tool == "mdtest" and report.facts.get("rounds_of_tree") == 1 and report.results:
        yield (
            f"line {report.results[0].line}: this is one iteration, so all its deviations are 0. "
            "Nobody knows how far the next one would be from it. Repeat it (-i 5)"
        )

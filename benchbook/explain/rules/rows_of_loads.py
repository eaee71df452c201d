"""load-errors, heavy-tail: what rows of tables of loads count as failed, and longest times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("table", "es-rally")


@rule
def errors_of_rows(report: Report) -> Iterator[Finding]:
    """Rows whose column of errors is not 0: the largest."""
    counts = [own for own in report.being("count") if own.unit == "errors" and own.is_positive]
    if report.tool == "table" and counts:
        most = max(counts, key=_value)
        words = {"most": most, "rows": len(counts) - 1 or None, "label": most.of.get("label")}
        yield finding("errors-of-rows", words, about=counts)


TIMES, LONG_NS = 20.0, 2e7


@rule
def longest_of_rows(report: Report) -> Iterator[Finding]:
    """Rows whose longest time is far beyond their p99: the farthest."""
    if report.tool != "table" or not report.being("max"):
        return
    far: list[tuple[float, Result, Result]] = []
    for row in grouped(report.results, lambda own: own.line).values():
        times = [own for own in row if own.is_time and own.is_positive]
        named = {own.statistic: own for own in times}
        most, p99 = named.get("max"), named.get("p99")
        if len(named) == len(times) and most and p99 and most.base_value >= LONG_NS:
            far.append((most.base_value / p99.base_value, most, p99))
    times_far, most, p99 = max(far, key=lambda own: own[0], default=(0.0, None, None))
    if most and p99 and times_far >= TIMES:
        words: dict[str, Any] = {"most": most, "far": p99, "name": "time"}
        words |= {"most_ns": most.base_value, "far_ns": p99.base_value}
        yield finding("longest-far", words, times=times_far)


def _value(own: Result) -> float:
    return own.value


BEHIND, LEAST_NS = 2.0, 1e7  # of the time of the service itself, the latency


@rule
def behind_its_schedule(report: Report) -> Iterator[Finding]:
    """Tasks of Rally whose latency is far above the time of the service: requests wait for their
    turn, because the rate that was asked for is not reached."""
    if report.tool != "es-rally":
        return
    for statistic in ("median", "p90", "p99"):
        latency, service = (
            report.only(name, statistic) for name in ("response time", "service time")
        )
        if latency and service and service.is_positive and latency.base_value >= LEAST_NS:
            times = latency.base_value / service.base_value
            if times >= BEHIND:
                words = {"latency": latency, "service": service, "times": times}
                yield finding("behind-its-schedule", words, task=report.facts.get("section"))
                return


@rule
def error_rate_of_task(report: Report) -> Iterator[Finding]:
    """Tasks of Rally of which some requests failed."""
    share = report.only("error rate")
    if report.tool == "es-rally" and share and share.is_positive:
        yield finding("errors-of-task", share=share, task=report.facts.get("section"))

"""delayed-ack: medians of times, of no tool that is known, that are as long as Linux waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.delays import is_delay
from benchbook.findings import Finding

TOOLS = ("figures", "table", "text")
MEDIANS = ("p50", "median")
FAR, CLOSE = 50.0, 1.3  # times as fast as another median; a 99th percentile that is no longer


@rule
def delayed_medians(reports: Sequence[Report]) -> Iterator[Finding]:
    """Rows whose median is a delayed acknowledgement of Linux, next to rows that are far faster.

    Decided where the 99th percentile of the row is as long too: a fixed wait, and no load.
    """
    own = [report for report in reports if report.tool in TOOLS]
    medians = [
        (result, report)
        for report in own
        for result in report.results
        if result.statistic in MEDIANS and result.is_time and result.is_positive
    ]
    slow = [
        result
        for result, report in medians
        if is_delay(result.base_value, of_most=False) and _is_fixed(result, report)
    ]
    if not slow:
        return
    fast = min((result for result, _ in medians), key=lambda result: result.base_value)
    if fast.base_value * FAR <= slow[0].base_value:
        words = {"slow": slow[0], "count": len(slow)}
        yield finding("delayed-medians", words, fast=fast, about=[slow[0], fast])


def _is_fixed(median: Result, report: Report) -> bool:
    """Whether the last per cent of the same row takes hardly longer."""
    return any(
        other.statistic == "p99" and other.base_value <= CLOSE * median.base_value
        for other in report.results
        if other.line == median.line and other.name == median.name
    )

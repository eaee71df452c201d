"""inconsistent-report, slow-flushes: what the summary of robocopy and histograms of a server's
metrics show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LONGER = 1.1  # from start to end ÷ the time that the speed is made of
SLOW_FLUSH_S = 0.01  # what etcd asks of 99 flushes in 100


@rule
def speed_of_part(report: Report) -> Iterator[Finding]:
    """A speed of robocopy that is made of less time than passed from its start to its end."""
    rate, took = report.only("throughput", "mean"), report.facts.get("elapsed_s")
    moved, copied = report.facts.get("bytes_moved"), report.facts.get("copied_s")
    if report.tool != "robocopy" or rate is None or not (is_number(took) and is_number(moved)):
        return
    if took <= 0 or not rate.is_positive or not is_number(copied):
        return
    times = rate.value * took / moved
    if times >= LONGER:
        words: dict[str, Any] = {"rate": rate, "took": took, "copied": copied}
        words |= {"mega": rate.value / 1e6, "moved_gb": moved / 1e9, "whole": moved / took / 1e6}
        words["line"] = report.facts["ended_in_line"]
        yield finding("speed-of-part", words, factor=times)


@rule
def slow_flushes(report: Report) -> Iterator[Finding]:
    """A histogram of flushes of which more than one in a hundred takes longer than 10 ms."""
    called = str(report.facts.get("histogram_of") or "")
    if not called.startswith("etcd") or not ("fsync" in called or "backend_commit" in called):
        return
    far, median = report.only("time at most", "p99"), report.only("time at most", "median")
    if far is None or median is None:
        return
    above = float(far.of["bucket_from_s"])
    if above >= SLOW_FLUSH_S * 0.8:
        words: dict[str, Any] = {"far": far, "above_ns": 1e9 * above, "median": median}
        from_ns = 1e9 * float(median.of["bucket_from_s"])
        words |= {"from_ns": from_ns, "to_ns": 1e9 * median.value, "far_ns": 1e9 * far.value}
        words["of_heads"] = "of_heads" if from_ns >= 4e6 else "none"
        yield finding("flushes-are-slow", words, metric=called[:60])

"""set-up-left-out: connecting (TCP, TLS) as a large part of a load, by the tool's own times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.load_lines import COUNT, RATE, TIME
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

CONNECT = "time to connect"
MOST = 0.4  # of the time of a connection, or of a request
LEAST_NS = 1e6


@rule
def connecting(reports: Sequence[Report]) -> Iterator[Finding]:
    """The first load whose connections take long next to all requests that they carry.

    h2load times both apart: requests of one connection follow each other at worst, so their number
    times their mean is the most that they take. ab has it in each request.
    """
    for report in reports:
        if found := next(_connecting(report), None):
            yield found
            return


def _connecting(report: Report) -> Iterator[Finding]:
    connect, mean = report.only(CONNECT, "mean"), report.only(TIME, "mean")
    if connect is None or mean is None or not (connect.is_positive and mean.is_positive):
        return
    if connect.base_value < LEAST_NS:
        return
    rate = report.only(RATE, "mean")
    words: dict[str, Any] = {"connect": connect, "mean": mean, "rate": rate}
    if report.tool == "h2load" and (each := _each(report)):
        together = each * mean.base_value
        share = connect.base_value / (connect.base_value + together)
        if share >= MOST:
            words |= {"each": each, "together": together, "share": share}
            yield finding("connecting-of-load", words, about=[connect])
    elif report.tool == "ab" and not report.facts.get("keeps_connections"):
        share = connect.base_value / mean.base_value
        if MOST <= share <= 1:
            yield finding("connecting-each-time", words | {"share": share}, about=[connect])


def _each(report: Report) -> float:
    """How many requests a connection carries; 0 where it is not known."""
    count, connections = report.only(COUNT, "total"), report.facts.get("connections")
    if count is None or not count.is_positive or not is_number(connections) or not connections:
        return 0.0
    return count.value / float(connections)

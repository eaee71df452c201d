"""warm-up: statements of a database of which the first run takes longer than the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "sql-client"
SLOWER = 2.0  # times the others
LEAST_NS = 5e6


@rule
def cold_statement(report: Report) -> Iterator[Finding]:
    """The same statement typed several times, of which the first takes twice as long or more."""
    if report.tool != TOOL:
        return
    typed = [own for own in report.results if own.of.get("is_typed") and own.is_positive]
    for several in grouped(typed, lambda own: own.name.lower()).values():
        if len(several) < 2 or several[0].base_value < LEAST_NS:
            continue
        rest = median(own.base_value for own in several[1:])
        most = max(own.base_value for own in several[1:])
        first = several[0].base_value
        if first >= SLOWER * rest and first >= SLOWER * most:
            words: dict[str, Any] = {"first": several[0], "rest": rest, "times": first / rest}
            words |= {"last": several[-1], "count": len(several)}
            yield finding("cold-statement", words, about=several)
            return

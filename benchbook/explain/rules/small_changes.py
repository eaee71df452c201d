"""undecided-ratio: comparisons whose changes are small, and of which no spread is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import Compared, compared
from benchbook.explain.rules.common.findings import finding

SMALL = 2.0  # per cent, every change
MOST = 5000  # figures of a comparison that people write
TABLE, SENTENCES = "table", "text"


def _sentences(report: Report) -> Iterator[Compared]:
    """The pairs of sentences, as `12.1 ms -> 12.0 ms`."""
    for own in grouped(report.knowing("build"), lambda result: result.of["benchmark"]).values():
        sides = {result.name: result for result in own}
        old, new = sides.get("old"), sides.get("new")
        if old and new and old.is_positive and new.is_positive:
            yield Compared(old, new)


@rule
def small_without_spread(reports: Sequence[Report]) -> Iterator[str]:
    """A note on comparisons all of which change by at most 2 %, without an error, a range or a
    test."""
    if not reports or any(report.tool not in (TABLE, SENTENCES) for report in reports):
        return
    if sum(len(report.results) for report in reports) > MOST:
        return
    if any(report.being("error", "stddev", "range", "noise", "min", "max") for report in reports):
        return
    tables = [report for report in reports if report.tool == TABLE]
    pairs = [pair for pair in compared(tables) if pair.old.unit != "1"]
    pairs += [pair for report in reports if report.tool == SENTENCES for pair in _sentences(report)]
    known = [pair for pair in pairs if pair.p_value is None and not any(pair.spreads)]
    changes = [abs(pair.percent) for pair in known]
    if not known or len(known) < len(pairs) or not 0 < max(changes) <= SMALL:
        return
    largest = max(known, key=lambda pair: abs(pair.percent))
    words = {"old": largest.old, "new": largest.new, "most": max(changes), "count": len(known)}
    words["all"] = len(known) if len(known) > 1 else None
    yield finding("small-without-spread", words).explanation

"""unequal-work, undecided-ratio: columns of a table that are not of one kind, and many tests of
which few find something."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "table"
_MIDDLES, _LOW = ("mean", "median"), "min"
_WORD = late(r"(?i)\b(?:min(?:imum)?|avg|average|mean|median|of|the|time)\b|[^a-z]")


@rule
def statistics_of_columns(report: Report) -> Iterator[Finding]:
    """Rows whose only two times are a mean or a median and a minimum, of two different things.

    Decided by the heads: both have a word beyond the statistic, and not the same.
    """
    if report.tool != TOOL or not report.being(_LOW):
        return
    for row in grouped(report.results, lambda result: result.line).values():
        times = [own for own in row if own.is_time and own.statistic in (*_MIDDLES, _LOW)]
        if len(times) != len(row) or len(times) != 2 or not all(own.is_positive for own in times):
            continue
        words = [_WORD.sub("", own.name).lower() for own in times]
        kinds = {own.statistic for own in times}
        if _LOW in kinds and len(kinds) == 2 and all(words) and words[0] != words[1]:
            yield finding("other-statistics", first=times[0], second=times[1], low="minimum")
            return


MANY = 20  # comparisons
SIGNIFICANT = 0.05
EXPECTED = 2.0  # times as many as chance finds
SURE = 0.005  # a single one below that is more than chance


@rule
def expected_by_chance(report: Report) -> Iterator[Finding]:
    """Tables of many tests of which no more find a difference than chance alone would."""
    tested: dict[object, tuple[float, Result]] = {}
    for result in report.knowing("p_value"):
        if result.of.get("build") == "new" and is_number(value := result.of.get("p_value")):
            tested[result.name, result.line] = (float(value), result)
    count = len(tested)
    found = sorted(tested.values(), key=lambda entry: entry[0])
    found = [entry for entry in found if entry[0] < SIGNIFICANT]
    if count < MANY or not found or "said_same_line" in report.facts:
        return
    if len(found) <= EXPECTED * SIGNIFICANT * count and found[0][0] >= SURE:
        words = {"significant": len(found), "count": count, "least": found[0][0]}
        words |= {"expected": SIGNIFICANT * count}
        yield finding("expected-by-chance", words, about=[own for _, own in found], new=found[0][1])

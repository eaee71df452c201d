"""where-the-time-went: a part that takes most of the time that a program prints for the whole."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("figures",)
MOST = 0.6  # of the whole: of two such parts one is within the other
LEAST_PARTS, LEAST_NS = 3, 1e8
_WHOLE = late(
    r"(?i)^(?:total|overall|elapsed|wall)(?:[ -]clock)?(?: (?:run|execution|wall))? ?time\b|^total$"
)
_NO_PART = late(
    r"(?i)\b(?:total|overall|elapsed|wall|real|cpu|user|sys|serial|parallel|per|avg|average|mean|min|max)\b"
)


@rule
def most_of_the_time(report: Report) -> Iterator[Finding]:
    """The innermost part of a list of times that has most of their total.

    Decided by the times alone: no part is longer than the whole, and they are several.
    """
    if report.tool not in TOOLS:
        return
    times = [time for time in report.results if time.is_time and time.is_positive]
    wholes = [time for time in times if _WHOLE.search(time.name)]
    parts = [time for time in times if not _NO_PART.search(time.name)]
    if len(wholes) != 1 or len(parts) < LEAST_PARTS or wholes[0].base_value < LEAST_NS:
        return
    whole = wholes[0]
    if any(part.base_value > whole.base_value for part in parts):
        return
    large = [part for part in parts if part.base_value >= MOST * whole.base_value]
    if large:
        most = min(large, key=lambda part: part.base_value)
        share = most.base_value / whole.base_value
        yield finding("part-of-the-time", most=most, whole=whole, share=share)

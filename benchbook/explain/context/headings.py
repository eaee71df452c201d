"""The heading of a page that stands above a run."""

from __future__ import annotations

from bisect import bisect_left

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_HEADING = late(r"^ {0,3}#{1,6} +(?P<text>\S.{0,100}?) *#*$")
_NEAR_LINES = 8


def tell(log: Log, reports: list[Report]) -> None:
    """Give each report of a named operation the last heading above it, if that is near and no other
    report is between."""
    headings = [
        (line.number, match["text"])
        for line in log.having("# ")
        if (match := _HEADING.match(line.text[:200]))
    ]
    numbers = [number for number, _ in headings]
    above = 0
    for report in reports if headings else ():
        if at := bisect_left(numbers, report.line):
            number, text = headings[at - 1]
            is_named = report.facts.get("operation") is not None
            if is_named and number > above and report.line - number <= _NEAR_LINES:
                report.facts |= {"heading": text, "heading_line": number}
        above = max([report.line, *(result.line for result in report.results[-1:])])

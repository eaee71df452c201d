"""Lists of statistics of one quantity without its unit: `avg: 395.59`, `50th: 386.00`.

They are read where nothing else was recognised, and only three and more that stand together, a mean
or a median among them. Nobody knows what they count, so no rule judges them.
"""

from __future__ import annotations

import re

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.results import GIVEN

TOOL = "statistics without units"
LOOKS_FOR = "three lines and more of statistics without a unit: `avg: 395.59`, `99th: 515.18`"
_ROW = late(
    r"^[`*_\s-]*(?P<name>avg|average|mean|median|std(?:\.? ?dev)?|stdev|sd|min(?:imum)?"
    r"|max(?:imum)?"
    r"|p\d{1,2}(?:\.\d{1,3})?|\d{1,2}(?:\.\d{1,3})?(?:th|%)(?: percentile)?)[`*_]* {0,20}[:=]"
    r" {0,20}(?P<value>-?\d{1,15}(?:\.\d{1,12})?)[`*_]*,?$",
    re.I,
)
_MIDDLES = ("avg", "average", "mean", "median", "50th", "50%", "p50")
_LEAST_ROWS, _MOST_LISTS = 3, 200


def read(log: Log) -> list[Report]:
    """One report for each list, with its statistics as the log calls them."""
    reports: list[Report] = []
    results: list[Result] = []
    for line, may_be in (*log.marked(_ROW.match), (Line(0, ""), False)):
        found = _ROW.match(line.text) if may_be else None
        if not found and not line.text.strip() and line.number:
            continue
        names = [own.name.lower() for own in results]
        if results and (found is None or found["name"].lower() in names):
            if len(results) >= _LEAST_ROWS and any(own.startswith(_MIDDLES) for own in names):
                note = "These statistics name no unit, so they are shown as they stand."
                reports.append(Report(TOOL, results, results[0].line, notes=[note]))
            results = []
        if found and (value := log.number(found["value"])) is not None:
            results.append(Result(found["name"], value, "1", line.number, GIVEN))
        if len(reports) >= _MOST_LISTS:
            break
    return reports

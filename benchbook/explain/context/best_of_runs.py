"""The best of several runs that somebody gives: known by being that, and by being called so."""

from __future__ import annotations

import statistics

from benchbook.explain.context.same_runs import of_same
from benchbook.explain.decimal_marks import FIGURE
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.units import bytes_per_s

_CALLED = ("best", "Best", "BEST", "fastest", "Fastest", "peak", "Peak", "max", "Max", "MAX")
_FEWEST = 4  # runs
_SHORT, _MOST = 300, 100  # characters of such a line; lines


def tell(log: Log, reports: list[Report]) -> None:
    """Add such a rate to the last report that has a part of it."""
    several = [own for own in of_same(reports) if len(own) >= _FEWEST and _is_rate(own[0][1])]
    known = {one.line for report in reports for one in report.results} if several else set()
    called = log.having(*_CALLED) if several else []
    lines = [one for one in called if one.number not in known and len(one.text) < _SHORT]
    for line in lines[:_MOST]:
        numbers = {log.number(one) for one in FIGURE.findall(line.text)}
        for own in several:
            above = [(report, one) for report, one in own if one.line < line.number]
            values = [one.value for _, one in above]
            if len(above) >= _FEWEST and max(values) in numbers:
                median = statistics.median(values)
                of = {"best_of": len(above), "median_of_runs": median}
                report, one = above[-1]
                report.add(Result(one.name, max(values), one.unit, line.number, "best", of))
                break


def _is_rate(one: Result) -> bool:
    return bytes_per_s(1.0, one.unit) is not None

"""The best of several runs that somebody gives: known by being that, and by being called so."""

from __future__ import annotations

import statistics

from benchbook.explain.context.same_runs import lines_of_results, of_same
from benchbook.explain.decimal_marks import FIGURE
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.units import bytes_per_s

_CALLED = ("best", "Best", "BEST", "fastest", "Fastest", "peak", "Peak", "max", "Max", "MAX")
_FEWEST = 4  # runs
_SHORT, _MOST = 300, 100  # characters of such a line; lines


def tell(log: Log, reports: list[Report]) -> None:
    """Add such a rate to the last report that has a part of it."""
    several = [
        own for own in of_same(reports) if len(own) >= _FEWEST and bytes_per_s(1.0, own[0][1].unit)
    ]
    result_lines = lines_of_results(reports) if several else set()
    called = log.having(*_CALLED) if several else []
    lines = [line for line in called if line.number not in result_lines and len(line.text) < _SHORT]
    for line in lines[:_MOST]:
        numbers = {log.number(figure) for figure in FIGURE.findall(line.text)}
        for own in several:
            above = [(report, result) for report, result in own if result.line < line.number]
            values = [result.value for _, result in above]
            if len(above) >= _FEWEST and max(values) in numbers:
                median = statistics.median(values)
                of = {"best_of": len(above), "median_of_runs": median}
                report, last = above[-1]
                report.add(Result(last.name, max(values), last.unit, line.number, "best", of))
                break

"""dead-code, undecided-ratio: operations that take no time, and changes that may be none."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import BASE, TIMES
from benchbook.findings import Finding

LIBRARIES = ("go-bench", "jmh", "criterion", "benchmarkdotnet")
LEAST_NS = 0.5  # for an operation: two cycles of a fast core, which an empty loop takes
WIDE = 0.5  # of the mean, half of its interval
MEANS = ("", "mean", "median", "sample")


@rule
def no_operation(report: Report) -> Iterator[Finding]:
    """Operations that take less than the loop around them.

    Decided by the time alone: whatever is called, loaded or computed takes a few cycles.
    """
    if report.tool not in LIBRARIES:
        return
    none: list[Result] = []
    for (_, statistic, unit), several in report.groups.items():
        if statistic in MEANS and unit in TIMES:
            least = LEAST_NS / BASE[unit][0]
            none += [time for time in several if 0 <= time.value < least]
    if none:
        yield finding("no-operation", about=none, first=none[0], left=len(none) - 1 or None)


@rule
def undecided_change(report: Report) -> Iterator[Finding]:
    """Changes whose interval has 0 in it, and means that are not known to half of themselves."""
    if report.tool not in LIBRARIES:
        return
    for change in report.knowing("change_low_percent"):
        low, high = change.of.get("change_low_percent"), change.of.get("change_high_percent")
        if is_number(low) and is_number(high) and low <= 0 <= high:
            yield finding("change-with-none", change=change, low=low, high=high)
    same = [result for result in report.knowing("is_same") if result.of.get("is_same")]
    pairs = {result.of["benchmark"]: result for result in same if result.of.get("build") == "new"}
    if pairs:
        first = next(iter(pairs.values()))
        words = {"new": first, "p": first.of.get("p_value"), "left": len(pairs) - 1 or None}
        yield finding("benchstat-same", words, about=list(pairs.values()))
    yield from _wide(report)


def _wide(report: Report) -> Iterator[Finding]:
    means = {(result.name, result.line): result for result in report.being("mean")}
    for error in report.being("confidence 99.9 %"):
        mean = means.get((error.name, error.line))
        if _is_wide(mean, error):
            yield finding("wide-mean", mean=mean, error=error)
            return


def _is_wide(mean: Result | None, error: Result) -> bool:
    if mean is None or not (mean.is_positive and error.is_number):
        return False
    is_none = mean.is_time and mean.base_value < LEAST_NS  # which has a finding of its own
    return error.value > WIDE * mean.value and not is_none

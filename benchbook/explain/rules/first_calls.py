"""warm-up, wide-spread: first times of a series that hold what is done once, and means of tables
whose deviation is a large part of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LONG, ALIKE = 10.0, 1.5  # times the next ones; among these
LEAST, LEAST_NS = 3, 1e6
WIDE = 0.25  # of the mean
_NUMBERED = late(
    r"^(?P<head>[A-Za-z_ ]{2,30}?)[ _#]?(?P<number>\d{1,3})?(?P<tail>(?:[ _:].{0,40})?)$"
)
_DRAWN = ("figures",)


@rule
def first_of_kind(report: Report) -> Iterator[Finding]:
    """Numbered times of the same work, of which the first is many times the others.

    Decided by their names, which differ in a number only, and by the times.
    """
    if report.tool not in _DRAWN:
        return
    for _, several in groupby(report.results, key=_kind):
        own = [result for result in several if result.is_time and result.is_positive]
        if len(own) < LEAST or len({result.name for result in own}) < len(own):
            continue
        first, rest = own[0], own[1:]
        least, most = (pick(rest, key=_time) for pick in (min, max))
        is_alike = _time(most) <= ALIKE * _time(least)
        if is_alike and _time(first) >= max(LEAST_NS, LONG * _time(most)):
            words = {"first": first, "least": least, "most": most}
            yield finding("first-of-kind", words, ratio=_time(first) / _time(most), about=[first])
            return


def _kind(result: Result) -> tuple[str, str]:
    found = _NUMBERED.match(result.name)
    return (found["head"].strip(), found["tail"]) if found else (result.name, "")


def _time(result: Result) -> float:
    return result.base_value


@rule
def wide_errors(report: Report) -> Iterator[Finding]:
    """Means of a table whose deviation, printed behind ±, is a quarter of them and more."""
    if report.tool != "table":
        return
    pairs = _with_errors(report.results)
    wide = [(mean, error) for mean, error in pairs if error.value >= WIDE * mean.value]
    if wide:
        mean, error = max(wide, key=lambda pair: pair[1].value / pair[0].value)
        words: dict[str, Any] = {"mean": mean, "error": error, "part": error.value / mean.value}
        words["left"] = len(wide) - 1 or None
        yield finding("wide-errors", words, about=[own for own, _ in wide])


def _with_errors(results: Sequence[Result]) -> Iterator[tuple[Result, Result]]:
    for before, after in pairwise(results):
        is_pair = before.line == after.line and before.name == after.name
        if is_pair and before.is_positive and after.statistic == "error" and after.is_number:
            yield before, after

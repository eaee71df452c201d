"""The call of a compiler above each run, where a log has several: such runs are of two builds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_WORDS = ("gcc", "g++", "clang", "gfortran", "nvcc", "rustc")
_CALL = late(
    r"^[$#>% ]{0,4}(?P<call>(?:gcc|g\+\+|clang(?:\+\+)?|gfortran|nvcc|rustc)(?:-\d+)? \S.{0,200})"
)


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give each report the last such call above it."""
    calls = [
        (line.number, found["call"].strip())
        for line in log.having(*_WORDS)
        if (found := _CALL.match(line.text))
    ]
    if len({call for _, call in calls}) < 2:
        return
    numbers = [number for number, _ in calls]
    for report in reports:
        if above := bisect_left(numbers, report.line):
            report.facts["built_by"] = calls[above - 1][1]

"""Totals that somebody printed behind several processes: known by being the sum of their rates."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from benchbook.importers import Line, Log, Report, Result
from benchbook.logs.units import bytes_per_s

_NUMBER = r"[\d.,]*\d(?:[eE][+-]?\d+)?"
_WORDS = ("total", "sum", "aggregate", "combined", "overall", "together")
_TOTAL = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})\b\D{{0,40}}?({_NUMBER})"
    rf"|\b({_NUMBER})(?: [MG]i?B/s(?:ec)?)? (?:(?:in|all) )?(?:{'|'.join(_WORDS)})\b",
    re.I,
)
_SHORT = 300  # characters of a line that says a total
_ROUNDED = 0.002
_MOST = 1000  # lines: each is compared with all names
_OF_PROCESSES = ("mean", "best", "")  # what a process prints of itself once
_OF_MEMORY = ("array_bytes", "working_set_bytes", "arrays_moved")


class _Parts(NamedTuple):
    """Rates of one name, in the order of the log, with the sum down to each."""

    name: str
    unit: str
    statistic: str
    lines: list[int]
    sums: list[float]
    reports: list[Report]


def tell(log: Log, reports: list[Report]) -> None:
    """Add such a total to the last report that has a part of it."""
    several = _parts(reports)
    said = _said(log) if several else []
    known = {one.line for report in reports for one in report.results} if said else set()
    for line, value in said:
        for parts in several if line.number not in known else ():
            count = bisect_left(parts.lines, line.number)
            if count > 1 and abs(value - parts.sums[count - 1]) <= _ROUNDED * parts.sums[count - 1]:
                of = {"summed_of": parts.statistic or "mean", "processes": count}
                total = Result(parts.name, value, parts.unit, line.number, "sum", of)
                report = parts.reports[count - 1]
                report.results.append(total)
                for made in ("columns", "settings", "groups"):
                    vars(report).pop(made, None)  # before the total was known


def _parts(reports: list[Report]) -> list[_Parts]:
    """What several processes, or several starts, printed of the same."""
    found: dict[tuple[str, str, str, str], list[tuple[Report, Result]]] = {}
    for report in reports:
        for one in report.knowing(*_OF_MEMORY):
            if one.statistic in _OF_PROCESSES and bytes_per_s(1.0, one.unit):
                key = report.tool, one.name, one.unit, one.statistic
                found.setdefault(key, []).append((report, one))
    return [
        _Parts(
            *key[1:],
            [one.line for _, one in own],
            list(accumulate(one.value for _, one in own)),
            [report for report, _ in own],
        )
        for key, own in found.items()
        if len(own) > 1
    ]


def _said(log: Log) -> list[tuple[Line, float]]:
    """Lines with such a word and a number."""
    found = []
    for line in log.having(*(form for one in _WORDS for form in (one, one.title(), one.upper()))):
        if len(line.text) < _SHORT and (total := _TOTAL.search(line.text)):
            value = log.number(total[1] or total[2])
            if value and value > 0:
                found.append((line, value))
    return found[:_MOST]

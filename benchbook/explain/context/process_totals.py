"""Totals that somebody printed behind several processes: known by being the sum of their rates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.decimal_marks import FIGURE, NUMBER
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.units import bytes_per_s

_WORDS = ("total", "sum", "aggregate", "combined", "overall", "together")
_TOTAL = late(
    rf"\b(?:{'|'.join(_WORDS)})\b\D{{0,40}}?({NUMBER})"
    rf"|\b({NUMBER})(?: [MG]i?B/s(?:ec)?)?(?: of [a-z ]{{1,40}}?)? (?:(?:in|all) )?"
    rf"(?:{'|'.join(_WORDS)})\b",
    re.I,
)
_ALONE = late(r"^(\d{3,9}\.\d{1,9})(?: [MG]i?B/s(?:ec)?)?$")  # as awk or bc prints it
_LARGE = ("GB/s", "GiB/s")
_SHORT = 300  # characters of a line that says a total
_ROUNDED = 0.002  # of it, if its digits leave no more open
_MOST = 1000  # lines: each is compared with all names
_MOST_COMPARED = 200_000  # totals, each with the names
_OF_PROCESSES = ("mean", "best", "total", "")  # what a process prints of itself once
_OF_MEMORY = ("array_bytes", "working_set_bytes", "arrays_moved")
_OF_TRANSFERS = ("streams", "message_bytes")
_APART = ("end", "direction", "reverse", "message_bytes")  # what is never added
# Of a number that is no rate, or one of something else.
_NO_RATE = late(r"\s?(?:(?:[mun\u00b5]?s|secs?|seconds|min|%|[KMGT]?i?B(?:ytes?)?)(?![\w/])|x\b)")
PARTED = 2  # lines to what stands above them ÷ lines from one to the next
_FEW = 3  # numbers of a line behind the first


class _Parts(NamedTuple):
    """Rates of one name, in the order of the log, with the sum down to each."""

    name: str
    unit: str
    statistic: str
    lines: list[int]
    sums: list[float]
    reports: list[Report]


class _Said(NamedTuple):
    """A number that may be a sum."""

    line: Line
    value: float
    error: float  # what its digits leave open, as a share
    unit: str  # GB/s or GiB/s where its line says so


def tell(log: Log, reports: list[Report]) -> None:
    """Add such a total to the last report that has a part of it."""
    statements = _said(log) if reports else []
    several = _parts(reports)[: _MOST_COMPARED // len(statements)] if statements else []
    result_lines = lines_of_results(reports) if several else set()
    for statement in statements:
        for parts in several if statement.line.number not in result_lines else ():
            count = bisect_left(parts.lines, statement.line.number)
            if several_of := _summed(statement, parts, count):
                of = {"summed_of": parts.statistic or "mean", "processes": several_of}
                unit = statement.unit or parts.unit
                total = Result(parts.name, statement.value, unit, statement.line.number, "sum", of)
                parts.reports[count - 1].add(total)
                # The rest of that line is the same sum in another unit.
                result_lines.add(statement.line.number)
                break


def _summed(statement: _Said, parts: _Parts, count: int) -> int:
    """Of how many above it it is the sum: of all, or of the last ones, where something else parts
    them from those above; 0 where of none."""
    if count > 1 and _is_sum(statement, parts.sums[count - 1], parts.unit):
        return count
    if statement.unit or count < 3:
        return 0
    begin = bisect_left(
        parts.sums, parts.sums[count - 1] - statement.value * (1 + _ROUNDED), 0, count
    )
    for at in range(begin, min(begin + 2, count - 2)):
        if _is_parted(parts, at, count) and _is_sum(
            statement, parts.sums[count - 1] - parts.sums[at], parts.unit
        ):
            return count - 1 - at
    return 0


def _is_parted(parts: _Parts, at: int, count: int) -> bool:
    """Whether a command stands behind the one at that place, or more than between the others."""
    if parts.reports[at].asked != parts.reports[at + 1].asked:
        return True
    first, *others = (below - above for above, below in pairwise(parts.lines[at:count]))
    return first > PARTED * max(others, default=0)


def _is_sum(statement: _Said, made: float, unit: str) -> bool:
    # Who writes GB for MiB divides by either number.
    scales = (1000, 1024) if statement.unit and statement.unit != unit else (1,)
    return any(abs(statement.value * scale - made) <= statement.error * made for scale in scales)


def _parts(reports: list[Report]) -> list[_Parts]:
    """What several processes, or several starts, printed of the same."""
    figures: dict[tuple[object, ...], list[tuple[Report, Result]]] = {}
    for report in reports:
        for (name, statistic, unit), several in report.groups.items():
            if statistic not in _OF_PROCESSES or not bytes_per_s(1.0, unit):
                continue
            for result in report.knowing(*_OF_MEMORY, *_OF_TRANSFERS, of=several):
                of = (report.column(result, column) for column in _APART)
                key = name, unit, statistic, report.tool, *of
                figures.setdefault(key, []).append((report, result))
    return [
        _Parts(
            own[0][1].name,
            own[0][1].unit,
            own[0][1].statistic,
            [result.line for _, result in own],
            list(accumulate(result.value for _, result in own)),
            [report for report, _ in own],
        )
        for own in figures.values()
        if len(own) > 1
    ]


def _said(log: Log) -> list[_Said]:
    """Lines with such a word and a number, and numbers alone."""
    words = (form for word in _WORDS for form in (word, word.title(), word.upper()))
    lines = (line for line in log.having(*words) if len(line.text) < _SHORT)
    totals = [(line, _TOTAL.search(line.text)) for line in lines]
    totals += [(line, _ALONE.match(line.text)) for line in log.like(_ALONE.match)]
    statements = [
        statement
        for line, total in totals[:_MOST]
        if total
        for statement in _read(log, line, total)
        if statement
    ]
    return sorted(
        (statement for statement in statements if statement.value > 0),
        key=lambda statement: statement.line.number,
    )


def _read(log: Log, line: Line, match: re.Match[str]) -> Iterator[_Said | None]:
    """The number that the word is of, and the others behind it: there may be a count before it."""
    group = match.lastindex or 0
    yield _number(log, line, match[group], match.end(group))
    behind = FIGURE.finditer(line.text, match.end(group)) if group == 1 else ()
    for word in islice(behind, _FEW):
        yield _number(log, line, word[0], word.end())


def _number(log: Log, line: Line, digits: str, end: int) -> _Said | None:
    if _NO_RATE.match(line.text, end):
        return None
    behind = line.text[end:].lstrip()
    value = log.number(digits) or 0.0
    unit = next((word for word in _LARGE if behind.startswith(word)), "")
    return _Said(line, value, max(_ROUNDED, half_digit(digits) / value if value else 0.0), unit)

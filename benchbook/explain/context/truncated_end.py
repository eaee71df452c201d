"""The last number of a log that ends within it: `30` of what would have been 3008.61."""

from __future__ import annotations

import re
from itertools import islice

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.printed_digits import decimals

_NUMBER = late(r"\d+(?:[.,]\d*)?")
_AT_END = late(r"\d+(?:\.\d+)?$")
_CLOSING, _DIGITS = ",;|", "0123456789.,"
_WORD = late(r"\S+")
_LOOKED_AT = 200  # lines before the last one
_ROWS, _LEAST = 8, 2  # that tell how many digits a column has


def drop(log: Log, reports: list[Report]) -> None:
    """Take it from the report that has it, with a note. A table ends all numbers of a column at one
    place, or gives them as many decimals; one that ends before, or has fewer, was cut, if no end of
    a line is behind it."""
    if not log.lines:
        return
    # What somebody cut and kept in a file has the end of a line behind it: then fewer decimals
    # alone say nothing.
    is_ended = not log.lines[-1].text.strip()
    ending = islice(reversed(log.lines), _LOOKED_AT)
    texts: dict[int, str] = {}
    for line in ending:
        if line.text and not line.text.isspace():
            texts.setdefault(line.number, line.text)
    last = next(iter(texts), 0)
    words = texts[last].split() if last else []
    if not words or words[-1][-1] not in _DIGITS:
        return
    for report in reports:
        if not report.results or report.results[-1].line != last:
            continue
        if _is_unclosed(report, texts, "|" if is_ended else _CLOSING):
            number = _AT_END.search(texts[last])
            if number and report.results[-1].value == log.number(number[0]):
                _take(report, last)
            continue
        if not _NUMBER.fullmatch(words[-1]):
            continue
        above, index = _rows_above(report, texts), len(words) - 1
        columns = [row[index] for row in above if len(row) > index]
        # Of one row all cells are alike, or it tells nothing.
        cells = words[1:-1] if all("." in word for word in words[1:-1]) else []
        digits = _digits([column[0] for column in columns]) or _digits(cells)
        ends = {column.end() for column in columns}
        at_right = len({column.start() for column in columns}) >= _LEAST and len(ends) == 1
        short = at_right and len(texts[last]) < ends.pop()
        is_it = report.results[-1].value == log.number(words[-1])
        has_fewer = decimals(words[-1]) < digits
        if is_it and ((short and has_fewer) if is_ended else (short or has_fewer)):
            _take(report, last)


def _take(report: Report, line: int) -> None:
    report.results.pop()
    report.notes.append(f"line {line}: its last number is cut off")


def _is_unclosed(report: Report, texts: dict[int, str], closing: str) -> bool:
    """Whether all rows above end with what parts the cells, and this one does not."""
    ends = [row[-1][0][-1] for row in _rows_above(report, texts) if row]
    return len(ends) >= _LEAST and len(set(ends)) == 1 and ends[0] in closing


def _rows_above(report: Report, texts: dict[int, str]) -> list[list[re.Match[str]]]:
    """The words of the last lines of a report but one."""
    last = report.results[-1].line
    numbers = dict.fromkeys(result.line for result in reversed(report.results[-_LOOKED_AT:]))
    rows = [texts[number] for number in numbers if number != last and number in texts]
    return [list(_WORD.finditer(row)) for row in rows[:_ROWS]]


def _digits(words: list[str]) -> int:
    """The decimals of these numbers, if there are several and all have as many; else 0."""
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    counts = {decimals(number) for number in numbers}
    several = len(numbers) >= _LEAST
    return counts.pop() if several and len(counts) == 1 else 0

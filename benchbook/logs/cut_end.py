"""The last number of a log that ends within it: `30` of what would have been 3008.61."""

from __future__ import annotations

import re
from itertools import islice

from benchbook.importers import Log, Report
from benchbook.logs.printed import decimals

_NUMBER = re.compile(r"\d+(?:\.\d*)?")
_LOOKED_AT = 200  # lines before the last one
_ROWS, _LEAST = 8, 2  # that tell how many digits a column has


def drop(log: Log, reports: list[Report]) -> None:
    """Take it from the report that has it, with a note. A table gives each number of a column as
    many decimals; one with fewer, behind which nothing comes, was cut."""
    ending = islice(reversed(log.lines), _LOOKED_AT)
    texts: dict[int, str] = {}
    for line in ending:
        if line.text and not line.text.isspace():
            texts.setdefault(line.number, line.text)
    last = next(iter(texts), 0)
    words = texts[last].split() if last else []
    if not words or not _NUMBER.fullmatch(words[-1]):
        return
    for report in reports:
        if not report.results or report.results[-1].line != last:
            continue
        # Of one row all cells are alike, or it tells nothing.
        cells = words[1:-1] if all("." in one for one in words[1:-1]) else []
        digits = _digits_above(report, texts, len(words) - 1) or _digits(cells)
        is_it = report.results[-1].value == float(words[-1])
        if is_it and digits and decimals(words[-1]) < digits:
            report.results.pop()
            report.notes.append(f"line {last}: its last number is cut off")


def _digits_above(report: Report, texts: dict[int, str], index: int) -> int:
    """The decimals of the words above that one, if all have as many; else 0."""
    last = report.results[-1].line
    numbers = dict.fromkeys(one.line for one in reversed(report.results[-_LOOKED_AT:]))
    rows = [texts[one].split() for one in numbers if one != last and one in texts]
    return _digits([row[index] for row in rows[:_ROWS] if len(row) > index])


def _digits(words: list[str]) -> int:
    """The decimals of these numbers, if there are several and all have as many; else 0."""
    found = {decimals(one) for one in words if "." in one and _NUMBER.fullmatch(one)}
    several = sum("." in one for one in words) >= _LEAST
    return found.pop() if several and len(found) == 1 else 0

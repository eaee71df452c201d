"""Rows of figures with units whose head is missing, or that never had one: a name, a figure, and
what stands next to it, such as a change and a verdict.

They are read where nothing else was recognised, and only two rows and more that are alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.bars import barred
from benchbook.explain.readers.common.table_cells import CELL, figures_of
from benchbook.explain.readers.common.table_columns import UNIT, UNITS, columns
from benchbook.explain.results import GIVEN
from benchbook.explain.units import TIMES

TOOL = "table"
LOOKS_FOR = (
    "rows of a name, a figure with its unit and others, without a head: `sort  1.8 us  +0.1 %`"
)
_GAP = late(r"\s{2,}|\t+")
_SIGNS = ("=", ":")
_MARKS = ("|", "  ", "\t", "+")  # between cells, and in a spread
_SPREAD = late(r"\d.{0,12}(?:±|\+/-|\+-) ?\d")
_INTERVAL = late(
    rf"[\[(] ?(?P<low>\d[\d.,]{{0,18}}) ?(?P<low_unit>{UNIT}),? (?P<high>\d[\d.,]{{0,18}}) ?"
    rf"(?P<high_unit>{UNIT}) ?[\])]"
)
_LETTER = late(r"[^\W\d_]")
_LEAST_CELLS, _LEAST_SPREAD, _LEAST_ROWS, _MOST_ROWS = 3, 2, 2, 5000
_LONGEST, _LONGEST_WORD = 400, 32  # characters of a line, and of a cell that is no figure


def read(log: Log) -> list[Report]:
    """One report for each group of such rows."""
    reports: list[Report] = []
    rows: list[tuple[Line, list[str]]] = []
    above, heads = "", list[str]()  # the last line that is no row
    for line, may_be in (*log.marked(_may_be_row), (Line(0, ""), False)):
        text = barred(line.text.strip())
        cells = _cells(text) if may_be else []
        if rows and (not cells or _kinds(cells) != _kinds(rows[0][1]) or len(rows) == _MOST_ROWS):
            reports += _report(log, rows, heads)
            rows = []
        if cells:
            heads = heads if rows else _heads(above, len(cells))
            rows.append((line, cells))
        elif text.strip("|+-=:_\u2500\u2550 \t"):
            above = text
    return reports


def _may_be_row(line: str) -> bool:
    return bool(_cells(barred(line.strip())))


def _heads(above: str, count: int) -> list[str]:
    """The heads that the line above names, empty ones where it is no such line."""
    own = _parts(above) if len(above) <= _LONGEST else []
    own = [""] * (len(own) == count - 1) + own
    is_head = len(own) == count and not any(map(CELL.fullmatch, own))
    return own if is_head and all(len(head) <= _LONGEST_WORD for head in own) else [""] * count


def _parts(text: str) -> list[str]:
    """The cells of a line: between bars, or what wide gaps part."""
    own = text.strip("|").split("|") if text.count("|") > 1 else _GAP.split(text)
    if len(own) == 1 and _SPREAD.search(text):
        own = text.rsplit(": ", 1) if ": " in text else text.rsplit(" = ", 1)
    return [" ".join(cell.strip("*`_ ").split()) for cell in own]


def _cells(text: str) -> list[str]:
    """The cells of a row: a name, then at least one figure with its unit; none of another line."""
    is_parted = any(mark in text for mark in _MARKS) or not text.isascii()
    if not is_parted or len(text) > _LONGEST or not any(map(str.isdigit, text)):
        return []
    cells = _parts(text)
    # Of two cells the figure has its spread: others are lists of figures.
    least = _LEAST_SPREAD if _SPREAD.search(text) else _LEAST_CELLS
    if len(cells) < least or not _LETTER.search(cells[0]) or CELL.fullmatch(cells[0]):
        return []
    if any(cell[:1] in _SIGNS or cell[-1:] in _SIGNS for cell in cells if cell):
        return []  # a name and its figure, which lists have
    is_row = any(map(_unit, cells[1:])) and all(
        CELL.fullmatch(cell) or len(cell) <= _LONGEST_WORD for cell in cells[1:]
    )
    return cells if is_row else []


def _unit(cell: str) -> str:
    """The unit of a figure; "" where a cell is none, or a share."""
    found = CELL.fullmatch(cell)
    unit = UNITS.get(found["unit"] or "", "") if found else ""
    return "" if unit == "%" else unit


def _kinds(cells: Sequence[str]) -> list[str]:
    """What each cell is: rows of one table have figures in the same places."""
    return ["figure" if _unit(cell) else "" for cell in cells]


def _report(log: Log, rows: Sequence[tuple[Line, list[str]]], heads: Sequence[str]) -> list[Report]:
    if len(rows) < _LEAST_ROWS or not _are_aligned(rows):
        return []
    of_columns = columns(heads, [cells for _, cells in rows])
    results = []
    for line, cells in rows:
        ends = [cell for cell in cells if _INTERVAL.fullmatch(cell)]
        plain = ["" if cell in ends else cell for cell in cells]
        own = [
            replace(result, name=_called(result))
            for result in figures_of(log, line, plain, of_columns, "")
        ]
        if len(ends) == 1 and own and (interval := _INTERVAL.fullmatch(ends[0])):
            own += _of_interval(log, interval, own[0])
        results += own
    notes = (
        []
        if any(heads)
        else ["No head of these rows was understood: their figures are called by their units."]
    )
    return [Report(TOOL, results, rows[0][0].number, notes=notes)]


def _are_aligned(rows: Sequence[tuple[Line, list[str]]]) -> bool:
    """Whether rows are parted by bars or tabs, or their first figures begin or end at one place:
    prose with wide gaps does not."""
    starts, ends = set[int](), set[int]()
    for line, cells in rows:
        if not line.text.isascii() or "|" in line.text or "\t" in line.text:
            return True
        figure = next(cell for cell in cells[1:] if _unit(cell)).split()[0]
        start = line.text.find(figure, len(cells[0]))
        starts.add(start)
        ends.add(start + len(figure))
    return len(starts) == 1 or len(ends) == 1


def _of_interval(log: Log, interval: re.Match[str], figure: Result) -> Iterator[Result]:
    """The ends of the interval that stands next to a figure."""
    for name, unit in (("low", "low_unit"), ("high", "high_unit")):
        value = log.number(interval[name])
        if value is not None and interval[unit] in UNITS:
            called = f"{figure.name} {'from' if name == 'low' else 'to'}"
            yield Result(called, value, UNITS[interval[unit]], figure.line, GIVEN, figure.of)


def _called(result: Result) -> str:
    if result.name:
        return result.name
    if result.statistic in ("change", "ratio", "noise"):
        return result.statistic
    return "time" if result.unit in TIMES else "rate" if result.unit.endswith("/s") else "value"

"""Tables of the figures of a report: a matrix as a matrix, what one line has in one row, and
otherwise a row for each figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from benchbook.explain.figures.cells import (
    Settings,
    columns_of,
    settings_of,
    short_name,
    shown_as,
    shown_statistic,
    words,
)
from benchbook.explain.figures.layout import FigureTable
from benchbook.explain.figures.matrix import matrices
from benchbook.explain.figures.percentiles import percentile_tables
from benchbook.explain.figures.pivot import Cell, best_tables
from benchbook.explain.figures.rows import TIMES, rows_of
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.units import in_base

_LEAST_PIVOTED, _MOST_PIVOTED = 4, 20_000  # results
# Settings whose few values stand next to each other.
_ACROSS = ("build", "core", "place", "region", "threads", "direction", "device")
_MOST_ACROSS = 12
_MOST_KINDS = 50  # of lines that may hold those of others
_MOST_SETTINGS = 5  # of a row with one figure
_Kind = tuple[str, str, str]  # name, statistic, what its unit is of


def _kind(result: Result) -> _Kind:
    statistic = shown_statistic(result) or result.statistic
    return short_name(result), statistic, in_base(1.0, result.unit)[1]


def tables_of(report: Report, width: int, marked: Collection[int] = ()) -> list[FigureTable]:
    """The tables of a report that fit into so many characters, in the order of the log. `marked`:
    lines that findings name, whose rows are shown first where there are many."""
    results = report.results
    if not results:
        return []
    tables, left = matrices(results, width)
    if _LEAST_PIVOTED <= len(left) <= _MOST_PIVOTED:
        facts = {**report.facts, **columns_of(report.settings)[1]}
        known = {(name, str(value)) for name, value in facts.items()}
        several, left = percentile_tables(left, width, marked, known)
        tables += several
        pivots, left = _pivots(left, width, marked, known)
        tables += pivots
    if left:
        tables.append(_long(report, left, width))
    if report.tool in AS_PRINTED:
        tables = [_without_powers(table) for table in tables]
    return sorted(tables, key=lambda table: table.line)


# Of what nobody knows the tool of: its MB may be 2^20 bytes, so no power is claimed.
AS_PRINTED = ("text", "figures", "figures in JSON", "table", "table without units", "lines alike")
_POWERS = late(r"(?<=/s) \(10[³⁶⁹]\)")


def _without_powers(table: FigureTable) -> FigureTable:
    """The table with units as they were printed."""
    rows = [[_POWERS.sub("", cell) for cell in row] for row in table.rows]
    heads = [_POWERS.sub("", head) for head in table.heads]
    return replace(table, heads=heads, rows=rows, title=_POWERS.sub("", table.title))


def _pivots(
    results: Sequence[Result],
    width: int,
    marked: Collection[int],
    known: Collection[tuple[str, str]],
) -> tuple[list[FigureTable], list[Result]]:
    """Tables of several figures a row, and the results that are in none."""
    tables: list[FigureTable] = []
    left: list[Result] = []
    families = _by_lines(results)
    for family in families:
        own = best_tables(_of_lines(family), width, marked, known)
        tables += own
        left += [] if own else family
    others: list[Result] = []
    for several in grouped(
        left, lambda own: frozenset(name for name, _ in settings_of(own))
    ).values():
        own = []
        if len(several) >= _LEAST_PIVOTED:
            own = best_tables(_of_settings(several), width, marked, known)
        tables += own
        others += [] if own else several
    taken = set(map(id, others))
    return tables, [own for own in results if id(own) in taken]


def _by_lines(results: Sequence[Result]) -> list[list[Result]]:
    """Results of lines that have the same kinds of figures, or a part of them."""
    lines = grouped(results, lambda own: own.line)
    kinds = {line: frozenset(map(_kind, own)) for line, own in lines.items()}
    counts = Counter(kinds.values())
    larger = sorted(counts, key=lambda own: (-len(own), -counts[own]))[:_MOST_KINDS]
    families: dict[frozenset[_Kind], list[Result]] = {}
    for line, own in lines.items():
        home = next((kind for kind in larger if kinds[line] <= kind), kinds[line])
        # What is of one line only, and has much more, is a table of its own.
        is_near = counts[home] > 1 or 2 * len(kinds[line]) >= len(home)
        home = home if is_near else kinds[line]
        families.setdefault(home, []).extend(own)
    return list(families.values())


def _of_lines(results: Sequence[Result]) -> Iterator[list[Cell]]:
    """A row for each line, a column for each kind."""
    if len({own.line for own in results}) > 1:
        yield [Cell((own.line,), ("", *_kind(own)), own) for own in results]


def _of_settings(results: Sequence[Result]) -> Iterator[list[Cell]]:
    """A row for each setting, or for each name, or one for all values of a setting."""
    if columns_of([own.of for own in results])[0]:
        yield [Cell(settings_of(own), ("", *_kind(own)), own) for own in results]
    yield [
        Cell(
            (short_name(own), own.unit, *settings_of(own)), ("", "", shown_statistic(own), ""), own
        )
        for own in results
    ]
    for name in _ACROSS:
        if 1 < len({own.of.get(name) for own in results}) <= _MOST_ACROSS:
            yield [
                Cell(
                    (short_name(own), shown_statistic(own), own.unit, *_others(own, name)),
                    (f"{words(name)} {shown_as(name, own.of.get(name))}", "", "", ""),
                    own,
                )
                for own in results
            ]


def _others(result: Result, name: str) -> Settings:
    return tuple(setting for setting in settings_of(result) if setting[0] != name)


def _long(report: Report, results: Sequence[Result], width: int) -> FigureTable:
    """A row for each figure; of many that are alike one for all."""
    rows = rows_of(report, results)
    columns, _ = columns_of(report.settings)
    columns = [name for name in columns if any(name in of for *_, of in rows)][:_MOST_SETTINGS]
    heads = ["", "", "value", "unit", "", *map(words, columns), "line"]
    cells = [
        [name, statistic, value, unit, base, *(shown_as(c, of.get(c)) for c in columns), line]
        for line, name, statistic, value, unit, base, of in rows
    ]
    line = min(result.line for result in results)
    title = ""
    if any(TIMES in statistic for _, _, statistic, *_ in rows):
        title = f"{TIMES}60: 60 lines, as least … median … most"
    while True:
        to_right = [head in ("value", "line") for head in heads]
        table = FigureTable(heads, cells, to_right, line, title)
        if table.least_width() <= width or len(heads) <= _FIXED:
            return table
        # What is in another unit goes first, then the last setting, next to the line.
        drop = _BASE if heads[_BASE] == "" and len(heads) > _FIXED else len(heads) - 2
        heads = [*heads[:drop], *heads[drop + 1 :]]
        cells = [[*row[:drop], *row[drop + 1 :]] for row in cells]


_FIXED = 5  # name, statistic, value, unit and line stand in every table
_BASE = 4

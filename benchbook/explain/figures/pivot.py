"""A table of several figures a row, with an error behind its value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from benchbook.explain.figures.cells import (
    ERRORS,
    decimals_of,
    lines_words,
    number_words,
    settings_of,
    short_name,
    shown_as,
    shown_statistic,
    unit_words,
    value_words,
    words,
)
from benchbook.explain.figures.choice import FigureRow, chosen, spans
from benchbook.explain.figures.layout import FigureTable
from benchbook.explain.figures.rows import MOST_ROWS
from benchbook.explain.model import Result
from benchbook.explain.results import GIVEN, groups_of

_OF_ERRORS = ("", "mean", "median", "best")  # what an error may be of
_FILLED = 0.45  # of the cells of a table
_FEWER = 0.75  # rows compared with results
_MOST_PARTS = 3
_MOST_NAMES = 2  # of a single row: more are better read from above to below
_UNSAID = {"kind", "class_width"}  # settings that figures show themselves
_TIMED = {"elapsed_s"}  # settings that a time in the same row says


class Cell(NamedTuple):
    """A result, and where it stands: its row, and its column by name, statistic and unit."""

    row: tuple[Any, ...]
    column: tuple[Any, ...]
    result: Result


def best_tables(
    candidates: Iterable[list[Cell]],
    width: int,
    marked: Collection[int],
    known: Collection[tuple[str, str]],
) -> list[FigureTable]:
    """The shortest table of those that fit, in parts where it is wide; none where none is shorter
    than a row for each figure. `known`: settings that stand above it, with their values."""
    least: list[FigureTable] = []
    fewest = 0
    for cells in candidates:
        for errors in (errors_of(cells), dict[int, Result]()):
            merged = set(map(id, errors.values()))
            values = [cell for cell in cells if id(cell.result) not in merged]
            pivot = pivot_of(values, errors, known)
            rows = len(pivot.rows)
            is_list = rows == 1 and len({name for _, name, _, _ in pivot.columns}) > _MOST_NAMES
            is_table = (len(pivot.columns) > 1 or bool(errors)) and not is_list
            is_shorter = rows <= _FEWER * len(cells) and (not least or rows < fewest)
            if len(pivot.by_place) < len(values) or not (is_table and is_shorter):
                continue
            if len(values) < _FILLED * rows * len(pivot.columns):
                continue
            if tables := tables_that_fit(pivot, len(cells), width, marked):
                least, fewest = tables, rows * len(tables)
    return least


def pivot_of(
    cells: Sequence[Cell],
    errors: dict[int, Result],
    known: Collection[tuple[str, str]],
    rows: Sequence[tuple[Any, ...]] = (),
) -> Pivot:
    """The cells as a table, with the errors behind their values by the id of these; its rows in
    this order where one is given, else as they come."""
    return Pivot(
        list(rows) or list(dict.fromkeys(cell.row for cell in cells)),
        list(dict.fromkeys(cell.column for cell in cells)),
        {(cell.row, cell.column): cell.result for cell in cells},
        errors,
        known,
    )


def tables_that_fit(
    pivot: Pivot, figures: int, width: int, marked: Collection[int]
) -> list[FigureTable]:
    """The table in as few parts as fit, a few columns each; none where these are too many."""
    for count in range(1, _MOST_PARTS + 1):
        size = -(-len(pivot.columns) // count)
        if count > 1 and (size < 2 or len(pivot.rows) * count > _FEWER * figures):
            break
        starts = range(0, len(pivot.columns), size)
        parts = [replace(pivot, columns=pivot.columns[at : at + size]) for at in starts]
        tables = [part.table(marked) for part in parts]
        if all(table.least_width() <= width for table in tables):
            first = min(table.line for table in tables)  # the parts stay next to each other
            return [replace(table, line=first) for table in tables]
    return []


def errors_of(cells: Sequence[Cell]) -> dict[int, Result]:
    """By the id of a value the one error that is printed with it."""
    values: dict[tuple[Any, ...], list[Result]] = {}
    errors: dict[tuple[Any, ...], list[Result]] = {}
    for row, (across, *_), result in cells:
        key = row, across, result.name, result.unit
        statistic = shown_statistic(result)
        if statistic in ERRORS:
            errors.setdefault(key, []).append(result)
        elif statistic in _OF_ERRORS and (result.statistic != GIVEN or statistic):
            values.setdefault(key, []).append(result)
    return {
        id(values[key][0]): own[0]
        for key, own in errors.items()
        if len(own) == 1 and len(values.get(key, ())) == 1
    }


@dataclass(frozen=True)
class Pivot:
    """Keys of rows and columns, the result of each cell, and the error of a result by its id."""

    rows: list[tuple[Any, ...]]
    columns: list[tuple[Any, ...]]
    by_place: dict[tuple[Any, Any], Result]
    errors: dict[int, Result]
    known: Collection[tuple[str, str]] = ()  # settings that stand above the table

    def table(self, marked: Collection[int]) -> FigureTable:
        """The table; of many rows those that are looked for first."""
        grid = [[self.by_place.get((row, column)) for column in self.columns] for row in self.rows]
        grid = [row for row in grid if any(row)]
        results = [[own for own in row if own] for row in grid]
        heads, title = self._heads()
        labels, names, units, said = _labels(
            results,
            has_names=self.columns[0][1] == "" == self.columns[0][3],
            known=self.known,
        )
        title = ", ".join(part for part in (title, *said) if part)
        decimals = {
            key: decimals_of(own.values)
            for key, own in groups_of(own for row in results for own in row).items()
        }
        error_decimals = {
            key: decimals_of(own.values) for key, own in groups_of(self.errors.values()).items()
        }
        mixed = [
            len({own.unit for row in grid if (own := row[at])}) > 1 and not units
            for at in range(len(self.columns))
        ]

        def cell(own: Result | None, at: int) -> str:
            if own is None:
                return ""
            text = value_words(own, decimals[own.name, own.statistic, own.unit])
            if error := self.errors.get(id(own)):
                key = error.name, error.statistic, error.unit
                own_decimals = decimals[own.name, own.statistic, own.unit]
                places = error_decimals[key]
                if own_decimals is not None and places is not None:
                    places = min(places, own_decimals + 2)  # of one in per cent are more computed
                text += f" ± {number_words(error.value, places)}"
            return f"{text} {unit_words(own.unit)}" if mixed[at] else text

        rows = [FigureRow(label, row) for label, row in zip(labels, grid, strict=True)]
        shown = chosen(rows, MOST_ROWS, marked)
        lines: list[list[str]] = []
        last = -1
        blank = [""] * len(names)
        for at in [*shown, len(rows)]:
            if at > last + 1:
                gap = f"… {at - last - 1:,} more"
                pad = [""] * (len(heads) + bool(units))
                lines.append([gap, *blank[1:], *pad, ""] if names else [*pad, gap])
            if at < len(rows):
                texts = [cell(own, place) for place, own in enumerate(grid[at])]
                unit = [units[at]] if units else []
                where = lines_words([own.line for own in results[at]])
                lines.append([*labels[at], *texts, *unit, where])
            last = at
        if len(shown) < len(rows) and names and not units:
            for called, span in zip(("least", "median", "most"), spans(rows), strict=True):
                lines.append([f"{called} of all", *blank[1:], *span, ""])
        every = [*names, *heads, *(["unit"] if units else []), "line"]
        is_number = [*(_are_numbers(labels, at) for at in range(len(names)))]
        is_number += [True] * len(heads) + [False] * bool(units) + [True]
        first = min(own.line for row in results for own in row)
        return FigureTable(every, lines, is_number, first, title)

    def _heads(self) -> tuple[list[str], str]:
        """What stands above each column, and what all have in common."""
        everyone = [
            [own for row in self.rows if (own := self.by_place.get((row, column)))]
            for column in self.columns
        ]
        errors = [
            next(
                (shown_statistic(error) for own in every if (error := self.errors.get(id(own)))), ""
            )
            for every in everyone
        ]
        if self.columns[0][1] == "" and self.columns[0][3] == "":  # by statistic or by a setting
            heads = [across or statistic or "value" for across, _, statistic, _ in self.columns]
            return [
                f"{head} ± {spread}" if spread else head
                for head, spread in zip(heads, errors, strict=True)
            ], ""
        names = {name for _, name, _, _ in self.columns}
        statistics = {statistic for _, _, statistic, _ in self.columns}
        units = {own.unit for every in everyone for own in every}
        # Next to numbers that are settings, a common `%` would be read as theirs, too.
        in_heads = len(units) > 1 or units == {"%"}
        heads = []
        for (_, name, statistic, _), every, spread in zip(
            self.columns, everyone, errors, strict=True
        ):
            own_units = {each.unit for each in every}
            parts = [
                name if len(names) > 1 else "",
                _unless_said(statistic, name) if len(statistics) > 1 else "",
                f"± {spread}" if spread else "",
                _unit_words(own_units.pop()) if len(own_units) == 1 and in_heads else "",
            ]
            if parts[-1] and name.split()[-1:] == parts[-1:]:
                del parts[-1]  # calls, in calls
            heads.append(" ".join(filter(None, parts)) or "value")
        common = [
            *(names if len(names) == 1 else ()),
            *(statistics - {GIVEN} if len(statistics) == 1 else ()),
        ]
        title = " ".join(filter(None, common))
        unit = unit_words(units.pop()) if len(units) == 1 and not in_heads else ""
        return heads, f"{title}, in {unit}".removeprefix(", ") if unit not in ("", "1") else title


def _unless_said(statistic: str, name: str) -> str:
    """A statistic for a head, unless its name says it."""
    return "" if statistic == GIVEN or statistic in name.lower() else statistic


def _unit_words(unit: str) -> str:
    """A unit in a head, where there is little room."""
    return {"1": "", "us": "µs"}.get(unit, unit)


def _labels(
    results: Sequence[Sequence[Result]], *, has_names: bool, known: Collection[tuple[str, str]]
) -> tuple[list[list[str]], list[str], list[str], list[str]]:
    """The words in front of each row, the heads of these, the units of the rows where their names
    tell what they are of, and what all rows have in common."""
    settings = [_common(row) for row in results]
    every = list(dict.fromkeys(name for own in settings for name in own))
    every = [name for name in every if not _is_said(name, results, settings)]
    same = [name for name in every if len({str(own.get(name)) for own in settings}) == 1]
    differing = [name for name in every if name not in same]
    if len(results) == 1:  # the settings of one row stand in front of it
        differing, same = (every, []) if not has_names else ([], every)
    labels = [[shown_as(name, own.get(name)) for name in differing] for own in settings]
    heads = [words(name) if name not in ("label", "benchmark") else "" for name in differing]
    said = [
        text if name in ("label", "benchmark") else f"{words(name)} {text}"
        for name in same
        if name not in _UNSAID
        and (name, str(settings[0][name])) not in known
        and (text := shown_as(name, settings[0][name]))
    ]
    if not has_names:
        return labels, heads, [], said
    names = [short_name(row[0]) for row in results]
    units = [unit_words(row[0].unit) for row in results]
    if not any(names) and heads:  # the benchmarks say all
        return labels, heads, units, said
    labels = [[name, *label] for name, label in zip(names, labels, strict=True)]
    return labels, ["", *heads], units, said


def _is_said(
    name: str, results: Sequence[Sequence[Result]], settings: Sequence[dict[str, Any]]
) -> bool:
    """Whether other cells of the rows say a setting."""
    if name in _TIMED:
        return any(own.is_time for row in results for own in row)
    others = [{str(value) for key, value in own.items() if key != name} for own in settings]
    pairs = zip(settings, others, strict=True)
    return name == "label" and all(str(own.get(name)) in other for own, other in pairs)


def _common(row: Sequence[Result]) -> dict[str, Any]:
    """The settings of the figures of a row, without those in which these differ."""
    own: dict[str, Any] = {}
    unlike: set[str] = set()
    for result in row:
        for name, value in settings_of(result):
            if own.setdefault(name, value) != value:
                unlike.add(name)
    return {name: value for name, value in own.items() if name not in unlike}


def _are_numbers(labels: Sequence[Sequence[str]], at: int) -> bool:
    own = [label[at] for label in labels if label[at]]
    return all(text[:1].isdecimal() for text in own)

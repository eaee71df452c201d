"""Figures of two places each, as a matrix: from each of the rows to each of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from benchbook.explain.figures.cells import (
    ERRORS,
    Settings,
    decimals_of,
    lines_words,
    number_words,
    settings_of,
    unit_words,
)
from benchbook.explain.figures.layout import FigureTable
from benchbook.explain.figures.rows import MOST_ROWS
from benchbook.explain.model import Result
from benchbook.explain.results import grouped

_PLACES = (("row", "column"), ("from_node", "to_node"))
_LEAST_CELLS = 4
_ONE_WAY = ("host to device", "device to host")


def matrices(results: Sequence[Result], width: int) -> tuple[list[FigureTable], Sequence[Result]]:
    """Figures of two places each, as a matrix of each kind; and the other results."""
    if not any(pair[0] in result.of for result in results for pair in _PLACES):
        return [], results
    tables: list[FigureTable] = []
    left = list(results)
    ways = [(pair, settings) for pair in _PLACES for settings in (False, True)]
    for pair, has_settings in ways:
        cells = [own for own in left if all(name in own.of for name in pair)]
        for key, own in grouped(cells, partial(_matrix_of, pair, has_settings)).items():
            places = {(cell.of[pair[0]], cell.of[pair[1]]): cell for cell in own}
            if len(own) < _LEAST_CELLS or len(places) < len(own):
                continue
            if table := _matrix(key, places, width, pair[0].startswith("from")):
                taken = set(map(id, own))
                left = [each for each in left if id(each) not in taken]
                tables += table if key[1] not in ERRORS else []
    return tables, left


def _matrix_of(
    pair: tuple[str, str], has_settings: bool, cell: Result
) -> tuple[str, str, str, Settings]:
    """What the cells of a matrix have in common: without their settings where that is certain."""
    own = settings_of(cell) if has_settings else ()
    others = tuple(setting for setting in own if setting[0] not in pair)
    return cell.name, cell.statistic, cell.unit, others


def _matrix(
    key: tuple[str, str, str, Settings],
    places: dict[tuple[Any, Any], Result],
    width: int,
    is_from: bool,
) -> list[FigureTable]:
    """One matrix, in parts where it is wide; none where it would be longer than a page."""
    name, statistic, unit, _ = key
    froms = list(dict.fromkeys(place[0] for place in places))
    tos = sorted(dict.fromkeys(place[1] for place in places), key=lambda to: (str(type(to)), to))
    decimals = decimals_of(cell.value for cell in places.values())
    shown = {place: number_words(cell.value, decimals) for place, cell in places.items()}
    size = max(map(len, shown.values())) + 2
    number = max(1, (width - 20) // size)
    parts = [tos[at : at + number] for at in range(0, len(tos), number)]
    if len(froms) * len(parts) > MOST_ROWS:
        return []
    what = "" if statistic in ("", "sample") else f" {statistic}"
    ways = {cell.of.get("direction", "") for cell in places.values()}
    way = ways.pop() if len(ways) == 1 else ""
    way = way if way in _ONE_WAY and way.replace(" ", "_") not in name else ""
    # Of a row and a column only the log's own words say which of both sends.
    places_words = "from the row to the column" if is_from else "rows and columns as in the log"
    title = f"{name}{what} in {unit_words(unit)}, {f'{way}, ' if way else ''}{places_words}"
    tables: list[FigureTable] = []
    for part in parts:
        rows = [
            [
                str(start),
                *(shown.get((start, to), "") for to in part),
                lines_words([own.line for to in part if (own := places.get((start, to)))]),
            ]
            for start in froms
        ]
        heads = ["", *map(str, part), "line"]
        line = min(cell.line for cell in places.values())
        tables.append(FigureTable(heads, rows, [True] * len(heads), line, title))
    return tables

"""Figures with percentiles: a row for each quantity, from its mean and least to its most."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from benchbook.explain.figures.cells import settings_of, short_name, shown_statistic
from benchbook.explain.figures.layout import FigureTable
from benchbook.explain.figures.pivot import Cell, errors_of, pivot_of, tables_that_fit
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.results import grouped

_SHARE = late(r"^p(?P<share>\d{1,3}(?:\.\d{1,6})?)$")
_LEAST_SHARES = 2  # of a quantity
_PLACES = {"best": -4.0, "mean": -3.0, "stddev": -2.0, "min": -1.0, "max": -0.5, "median": 50.0}
_LAST = 102.0


def percentile_tables(
    results: Sequence[Result],
    width: int,
    marked: Collection[int],
    known: Collection[tuple[str, str]],
) -> tuple[list[FigureTable], list[Result]]:
    """Tables of the quantities of which percentiles are given, with others of the same unit and
    settings that have several statistics; and the results that are in none. `marked`: lines that
    findings name; `known`: settings that stand above the table."""
    if not any(map(_is_of_share, set(map(shown_statistic, results)))):
        return [], list(results)
    rows = grouped(results, _row)
    whole = {
        key: own for key, own in rows.items() if len(set(map(shown_statistic, own))) == len(own)
    }
    of_shares = {key for key, own in whole.items() if sum(map(_is_share, own)) >= _LEAST_SHARES}
    if not of_shares:
        return [], list(results)
    kinds = {key[1:] for key in of_shares}
    taken = {
        key: own for key, own in whole.items()
        if key in of_shares or (key[1:] in kinds and len(own) > 1)
    }  # fmt: skip
    figures = sorted((own for each in taken.values() for own in each), key=_place)
    order = {key: at for at, key in enumerate(taken)}
    cells = [Cell(_row(own), ("", "", shown_statistic(own), ""), own) for own in figures]
    errors = errors_of(cells)
    merged = set(map(id, errors.values()))
    columns = [cell for cell in cells if id(cell.result) not in merged]
    pivot = pivot_of(columns, errors, known, rows=sorted(order, key=order.__getitem__))
    tables = tables_that_fit(pivot, len(figures), width, marked)
    if not tables:
        return [], list(results)
    inside = set(map(id, figures))
    return tables, [own for own in results if id(own) not in inside]


def _row(result: Result) -> tuple[Any, ...]:
    return short_name(result), result.unit, *settings_of(result)


def _is_share(result: Result) -> bool:
    return _is_of_share(shown_statistic(result))


def _is_of_share(statistic: str) -> bool:
    return statistic == "median" or bool(_SHARE.match(statistic))


def _place(result: Result) -> float:
    """Where its statistic stands among others."""
    statistic = shown_statistic(result)
    if share := _SHARE.match(statistic):
        return float(share["share"])
    return _PLACES.get(statistic, _LAST)

"""What the source states that each step adds, against the slope of its own table."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from benchbook.audit.rounding import Interval, exactly, plain, shown
from benchbook.audit.tables import Item, Tables, place_name
from benchbook.core.errors import BenchbookError

RULE, KIND = "slope", "claim"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item per series: the least-squares slope over its labels, which are numbers."""
    return [_item(tables, check) for check in declared]


def _item(tables: Tables, check: dict[str, Any]) -> Item:
    column, ways = tables.column(check["of"]), check.get("ways", 1)
    table = check["of"]["table"]
    cells = [tables.interval(table, check["of"]["value"], text) for text, _ in column.values()]
    slope = line(steps(table, column), cells) / exactly(ways)
    stated = tables.cell(check["stated"])
    text = tables.row(check["stated"])[check["stated"]["value"]]
    way = f" on each of {ways} ways" if ways > 1 else ""
    of = place_name(check["of"])
    where = f"what {check['step']} adds{way}" + (f" ({of})" if of else "")
    value = shown(slope, text)
    return Item(
        table,
        RULE,
        where,
        text,
        value,
        stated.meets(slope),
        float(stated.half + slope.half),
        {"labels": list(column)},
        (
            tables.at(
                check["stated"]["table"], tables.row(check["stated"]), check["stated"]["value"]
            ),
        ),
    )


def steps(table: str, labels: Iterable[str]) -> list[Fraction]:
    """Labels as numbers; BenchbookError where one is none, or where all are one."""
    numbers = []
    for label in labels:
        if plain(label) is None:
            raise BenchbookError(f"{table}: {label!r} labels a row, and is no number to step along")
        numbers.append(Fraction(plain(label) or 0))
    if len(set(numbers)) < 2:
        raise BenchbookError(f"{table}: one row makes no step; name a column of several")
    return numbers


def line(along: list[Fraction], cells: list[Interval]) -> Interval:
    """The least-squares slope that the digits of the cells allow."""
    mean = sum(along) / len(along)
    total = sum((step - mean) ** 2 for step in along)
    parts = [cell * exactly((step - mean) / total) for step, cell in zip(along, cells, strict=True)]
    lows, highs = [part.low for part in parts], [part.high for part in parts]
    return Interval(sum(lows, Fraction()), sum(highs, Fraction()))

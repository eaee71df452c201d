"""Units of one quantity: stated, and of one kind (bytes or not, decimal or binary)."""

from __future__ import annotations

import re
from typing import Any

from benchbook.audit.tables import At, Item, Tables
from benchbook.core.number_format import listed

RULE, KIND = "units", "unit"
_UNIT = re.compile(r"(?P<prefix>[kKMGTP]?)(?P<binary>i?)(?P<rest>[Bb]?(/s)?)")
# How a column's name carries a unit where no printed heading is kept.
_SUFFIX = re.compile(r"_(?P<unit>[kmgtp]i?b)(?P<per>_per_s)?$")


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each quantity: one item over all its columns."""
    return [_item(tables, check) for check in declared]


def _item(tables: Tables, check: dict[str, Any]) -> Item:
    by_unit: dict[str, list[str]] = {}
    for table, columns in check["columns"].items():
        tables.rows(table, None, *columns)
        for column in columns:
            by_unit.setdefault(unit_of(tables, table, column), []).append(
                tables.heading(table, column)
            )
    kinds = {_kind(unit) for unit in by_unit}
    consistent = len(kinds) == 1 and "" not in by_unit
    named = [
        f"{unit or 'no unit'} ({listed(list(dict.fromkeys(headings)))})"
        for unit, headings in by_unit.items()
    ]
    facts = {
        "quantity": check["quantity"],
        "units": named,
        "is_unstated": not consistent and not any(by_unit),
        "are_mixed": not consistent and any(by_unit),
    }
    printed = listed([unit or "no unit" for unit in by_unit])
    kind = listed(sorted({" ".join(kind) for kind in kinds}))
    where = ", ".join(check["columns"])
    cells = tuple(
        At(table, None, name) for table in check["columns"] for name in check["columns"][table]
    )
    return Item(where, RULE, check["quantity"], printed, kind, consistent, None, facts, cells)


def unit_of(tables: Tables, table: str, column: str) -> str:
    """The unit printed with the heading, else the one in the column's name; empty: none."""
    if (table, column) in tables.units:
        return tables.units[table, column]
    match = _SUFFIX.search(column)
    if not match:
        return ""
    unit = match["unit"][:-1].upper().replace("I", "i") + "B"
    return unit + ("/s" if match["per"] else "")


def _kind(unit: str) -> tuple[str, ...]:
    """What a unit counts, without its prefix: MB and GB are of one kind, MiB and G are not."""
    match = _UNIT.fullmatch(unit)
    if not match:
        return (unit,)
    size = "binary" if match["binary"] else "decimal"
    return (size, match["rest"]) if match["rest"] else ("no unit",)

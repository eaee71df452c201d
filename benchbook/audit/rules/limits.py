"""Settings against the memory that is stated: what fits has numbers, what does not has none."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rules.units import unit_of
from benchbook.audit.tables import At, Item, Tables
from benchbook.core.number_format import count, listed

RULE, KIND = "limits", "outcome"
ASKS = "sizes against the memory stated"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each column of a swept table; an empty column is none."""
    return [
        _item(tables, check, column, setting)
        for check in declared
        for column, setting in tables.settings(check["table"]).items()
        if tables.outcome(check["table"], column)
    ]


def _item(tables: Tables, check: dict[str, Any], column: str, setting: int) -> Item:
    table, swept = check["table"], tables.swept[check["table"]]
    stated = tables.row(check["available"])[check["available"]["value"]]
    memory = tables.cell(check["available"])
    needed = setting * swept["bytes_each"]
    sizes = check["unit_bytes"]
    # An ambiguous unit counts against a cell only where every reading of it does.
    fits = any(needed <= memory.high * size for size in sizes)
    exceeds = any(needed > memory.low * size for size in sizes)
    outcome = tables.outcome(table, column)
    worked = outcome == "numbers"
    consistent = fits if worked else exceeds
    unit = unit_of(tables, check["available"]["table"], check["available"]["value"]) or "units"
    need, *others = (f"{float(needed / size):,.4g} {unit}" for size in sizes)
    words = f"{count(setting)} {swept['unit']} need {need} of the {stated} {unit} stated"
    if others:
        read = [
            f"{o} if 1 {unit} is {count(s)} bytes" for o, s in zip(others, sizes[1:], strict=True)
        ]
        words += f" ({listed(read)})"
    words += f"; the column holds {outcome if worked else f'‘{outcome}’'}"
    if not consistent:
        words += f", though it is {'beyond' if worked else 'within'} the memory stated"
    where, cells = f"column ‘{tables.heading(table, column)}’", (At(table, None, column),)
    return Item(table, RULE, where, outcome, float(needed), consistent, None, f"{words}.", cells)

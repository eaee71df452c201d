"""Settings against the memory that is stated: what fits has numbers, what does not has none."""

from __future__ import annotations

from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.rules.units import unit_of
from benchbook.audit.tables import At, Item, Tables

RULE, KIND = "limits", "outcome"


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
    need, *other_needs = (f"{float(needed / size):,.4g} {unit}" for size in sizes)
    facts = {
        "setting": setting,
        "elements": swept["unit"],
        "need": need,
        "stated": stated,
        "unit": unit,
        "readings": [
            Reason("if-unit-is", {"need": other_need, "unit": unit, "bytes": size})
            for other_need, size in zip(other_needs, sizes[1:], strict=True)
        ],
        "outcome": outcome,
        "worked": worked,
        "is_beyond": worked and not consistent,
        "is_within": not worked and not consistent,
    }
    where, cells = f"column ‘{tables.heading(table, column)}’", (At(table, None, column),)
    return Item(table, RULE, where, outcome, float(needed), consistent, None, facts, cells)

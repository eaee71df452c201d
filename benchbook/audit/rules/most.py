"""A printed number stays on its side of a bound that others give: a link's rate, a count of
machines, the same data in a simpler way."""

from __future__ import annotations

from typing import Any

from benchbook.audit.products import product, rows
from benchbook.audit.reasons import Reason
from benchbook.audit.rounding import rounded, shown
from benchbook.audit.tables import Item, Tables, cell_name

RULE, KIND = "most", "number"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each row in which nothing is empty, as far as the digits of both sides tell."""
    return [
        _row(tables, check, value, row)
        for check in declared
        for value in check["values"]
        for row in rows(tables, check["table"], check, value)
    ]


def _row(tables: Tables, check: dict[str, Any], value: str, row: dict[str, str]) -> Item:
    table, text, label = check["table"], row[value], row[check["label"]]
    bound, how = product(tables, table, check, row)
    printed, relation = tables.interval(table, value, text), check.get("relation", "at_most")
    most = relation == "at_most"
    holds = printed.low <= bound.high if most else printed.high >= bound.low
    cause = None if holds else Reason("as-stated", {"text": check["because"]})
    facts = {
        "is_upper": most,
        "product": how,
        "by_digits": float(bound.high if most else bound.low) if bound.half else None,
        "value": shown(bound, text) if not bound.half and " " in how else None,
    }
    return Item(
        table,
        RULE,
        cell_name(tables, {"table": table, "value": value}, label),
        text,
        float(f"{float(bound.middle):.12g}"),
        holds,
        float(rounded(text).half + bound.half),
        facts,
        (tables.at(table, row, value),),
        label,
        cause,
    )

"""A printed result follows from its own row: products, quotients, shares, rates × times."""

from __future__ import annotations

from typing import Any

from benchbook.audit.products import product, rows
from benchbook.audit.reasons import Reason
from benchbook.audit.rounding import compare, exactly, shown
from benchbook.audit.tables import Item, Tables, cell_name, checked

RULE, KIND = "formula", "number"
UNITS = {
    "kB": {"kB": 10**3, "KiB": 2**10},
    "MB": {"MB": 10**6, "MiB": 2**20},
    "GB": {"GB": 10**9, "GiB": 2**30},
}


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each row in which nothing of the formula is empty."""
    return [
        _row(tables, table, check, row)
        for check in declared
        for table in check["tables"]
        for row in rows(tables, table, check, check["result"])
    ]


def _row(tables: Tables, table: str, check: dict[str, Any], row: dict[str, str]) -> Item:
    value, how = product(tables, table, check, row)
    text, decimals, hint, cause = row[check["result"]], tables.decimals.get(table), None, None
    if check.get("bytes_in"):
        own, *others = UNITS[check["bytes_in"]].items()
        for unit, size in others:
            in_other = value / exactly(size)
            if compare(text, in_other, decimals).consistent:
                hint = Reason("fits-in-unit", {"unit": unit, "value": shown(in_other, text)})
                cause = Reason("in-unit", {"unit": unit})
        value = value / exactly(own[1])
    label, cell = row[check["label"]], tables.at(table, row, check["result"])
    return checked(
        RULE,
        cell,
        cell_name(tables, {"table": table, "value": check["result"]}, label),
        text,
        value,
        {"product": how, "unit": check.get("bytes_in")},
        decimals=decimals,
        exact=check["result"] in tables.exact.get(table, ()),
        label=label,
        hint=hint,
        cause=cause,
    )

"""What the source states of how evenly a series grows, against its own table."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rounding import Interval, exactly
from benchbook.audit.rules.slope import steps
from benchbook.audit.tables import Item, Tables, place_name
from benchbook.core import number_format

RULE, KIND = "growth", "claim"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item per series, whose labels are numbers: even where one step fits all of them."""
    return [_item(tables, check) for check in declared]


def _item(tables: Tables, check: dict[str, Any]) -> Item:
    column, table = tables.column(check["of"]), check["of"]["table"]
    along = steps(table, column)
    cells = [tables.interval(table, check["of"]["value"], text) for text, _ in column.values()]
    each = [
        Interval(after.low - before.high, after.high - before.low) / exactly(end - start)
        for start, end, before, after in zip(along, along[1:], cells, cells[1:], strict=False)
    ]
    even = max(step.low for step in each) <= min(step.high for step in each)
    of = place_name(check["of"])
    where = f"the growth with {check['step']}" + (f" ({of})" if of else "")
    sizes = [f"{float(step.middle):g}" for step in each]
    growth = "even" if even else "uneven"
    return Item(
        table,
        RULE,
        where,
        check["stated"],
        f"{growth}: {number_format.listed(sizes)}",
        growth == check["stated"],
        None,
        {"growth": growth, "steps": sizes},
    )

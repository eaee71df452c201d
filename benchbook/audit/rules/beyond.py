"""What the source states of all rows beside one of them, against its own table."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rounding import Interval
from benchbook.audit.tables import At, Item, Tables
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError

RULE, KIND = "beyond", "claim"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item per statement; it holds where every other row may lie on the stated side."""
    return [_item(tables, check) for check in declared]


def _item(tables: Tables, check: dict[str, Any]) -> Item:
    place, relation = check["of"], check["relation"]
    table, label = place["table"], place["label"]
    column = tables.column(place)
    if check["beside"] not in column or len(column) == 1:
        raise BenchbookError(f"{table} has no row {check['beside']!r} among others; mend `beside`")

    def allowed(text: str) -> Interval:
        return tables.interval(table, place["value"], text)

    base, _ = column[check["beside"]]
    beside = allowed(base)
    others = {name: cell for name, cell in column.items() if name != check["beside"]}
    failing: dict[str, tuple[str, At]] = {
        name: cell
        for name, cell in others.items()
        if not (
            allowed(cell[0]).high > beside.low
            if relation == "above"
            else allowed(cell[0]).low < beside.high
        )
    }
    texts = [text for text, _ in others.values()]
    values = number_format.listed(texts)
    facts = {
        "label": label,
        "beside": check["beside"],
        "base": base,
        "values": texts,
        "others": list(others),
        "failing": list(failing),
    }
    return Item(
        table,
        RULE,
        f"‘{tables.heading(table, place['value'])}’ compared with {label} {check['beside']}",
        check["stated"],
        f"{values} {relation} {base}" if not failing else f"not all of {values} {relation} {base}",
        not failing,
        float(beside.half),
        facts,
        tuple(cell for _, cell in (failing or others).values()),
    )

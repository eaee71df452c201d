"""Digits set in groups: after the first, all groups of a number are equally long."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rounding import plain
from benchbook.audit.tables import At, Item, Tables
from benchbook.core import number_format

RULE, KIND = "grouping", "digits"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each table that prints a number in groups, in a heading (after `=`) or in a cell."""
    items = []
    for table in (table for check in declared for table in check["tables"]):
        rows = tables.rows(table)
        headings = [_printed(tables, table, column) for column in rows[0]]
        texts = [*headings, *(cell for row in rows for cell in row.values())]
        grouped = [text for text in texts if plain(text) and len(text.split()) > 1]
        if grouped:
            items.append(_item(tables, table, grouped))
    return items


def _item(tables: Tables, table: str, grouped: list[str]) -> Item:
    odd = {text: _regrouped(text) for text in grouped if not _regular(text)}
    facts = {
        "grouped": len(grouped),
        "unequal": len(odd),
        "pairs": [f"{text} is {regular}" for text, regular in odd.items()],
    }
    printed = number_format.listed(list(odd) or list(dict.fromkeys(grouped)))
    recomputed = number_format.listed(list(odd.values()) or list(dict.fromkeys(grouped)))
    columns = {column for row in tables.rows(table) for column in row if row[column] in odd}
    columns |= {c for c in tables.rows(table)[0] if _printed(tables, table, c) in odd}
    cells = tuple(At(table, None, column) for column in sorted(columns))
    where = "headings and cells"
    return Item(table, RULE, where, printed, recomputed, not odd, None, facts, cells)


def _printed(tables: Tables, table: str, column: str) -> str:
    """The number that a heading ends with."""
    return tables.heading(table, column).rpartition("=")[2]


def _regular(text: str) -> bool:
    first, *others = (len(group) for group in text.split())
    return len(set(others)) == 1 and first <= others[0]


def _regrouped(text: str) -> str:
    """A number's digits in groups as long as its last one."""
    size, joined = len(text.split()[-1]), "".join(text.split())
    start = len(joined) % size
    groups = [joined[:start], *(joined[i : i + size] for i in range(start, len(joined), size))]
    return " ".join(filter(None, groups))

"""Digits set in groups: after the first, all groups of a number are equally long."""

from __future__ import annotations

from typing import Any

from benchbook import digits
from benchbook.audit.rounding import plain
from benchbook.audit.tables import Item, Tables

RULE = "grouping"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each table that prints a number in groups, in a heading (after `=`) or in a cell."""
    items = []
    for table in (table for one in declared for table in one["tables"]):
        rows = tables.rows(table)
        headings = [tables.heading(table, column).rpartition("=")[2] for column in rows[0]]
        texts = [*headings, *(cell for row in rows for cell in row.values())]
        grouped = [text for text in texts if plain(text) and len(text.split()) > 1]
        if grouped:
            items.append(_item(table, grouped))
    return items


def _item(table: str, grouped: list[str]) -> Item:
    odd = {text: _regrouped(text) for text in grouped if not _regular(text)}
    words = f"{digits.plural(len(grouped), 'number')} of {table} set in groups of digits"
    if odd:
        listed = digits.listed([f"{text} is {regular}" for text, regular in odd.items()])
        words += f", of which {len(odd)} in groups of unequal length: {listed}"
    printed = digits.listed(list(odd) or list(dict.fromkeys(grouped)))
    recomputed = digits.listed(list(odd.values()) or list(dict.fromkeys(grouped)))
    where = "headings and cells"
    return Item(table, RULE, where, printed, recomputed, not odd, None, f"{words}.")


def _regular(text: str) -> bool:
    first, *others = (len(group) for group in text.split())
    return len(set(others)) == 1 and first <= others[0]


def _regrouped(text: str) -> str:
    """In groups as long as the last."""
    size, joined = len(text.split()[-1]), "".join(text.split())
    start = len(joined) % size
    groups = [joined[:start], *(joined[i : i + size] for i in range(start, len(joined), size))]
    return " ".join(filter(None, groups))

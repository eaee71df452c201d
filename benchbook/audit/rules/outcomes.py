"""One setting, measured more than once, should have one outcome: numbers, or a failure."""

from __future__ import annotations

from typing import Any

from benchbook.audit.tables import At, Item, Tables
from benchbook.core import number_format

RULE, KIND = "outcomes", "outcome"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each setting that stands in several columns of a swept table."""
    items = []
    for check in declared:
        table = check["table"]
        columns: dict[int, list[str]] = {}
        for column, setting in tables.settings(table).items():
            if tables.outcome(table, column):
                columns.setdefault(setting, []).append(column)
        items += [
            _item(tables, table, setting, names)
            for setting, names in columns.items()
            if len(names) > 1
        ]
    return items


def _item(tables: Tables, table: str, setting: int, columns: list[str]) -> Item:
    seen = [tables.outcome(table, column) for column in columns]
    different = list(dict.fromkeys(seen))
    counts = [
        f"{outcome} ({number_format.plural(seen.count(outcome), 'time')})" for outcome in different
    ]
    facts = {
        "setting": setting,
        "elements": tables.swept[table]["unit"],
        "times": len(seen),
        "counts": counts,
    }
    headings = number_format.listed([f"‘{tables.heading(table, column)}’" for column in columns])
    return Item(
        table,
        RULE,
        f"columns {headings}",
        number_format.listed(different),
        different[0],
        len(different) == 1,
        None,
        facts,
        tuple(At(table, None, column) for column in columns),
    )

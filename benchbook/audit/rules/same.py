"""Two tables print one quantity under the same labels: the numbers should be the same."""

from __future__ import annotations

from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.tables import At, Item, Tables, cell_name

RULE, KIND = "same", "number"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each label that both columns have, compared without regard to case."""
    return [item for check in declared for item in _pair(tables, check["first"], check["second"])]


def _pair(tables: Tables, first: dict[str, Any], second: dict[str, Any]) -> list[Item]:
    columns = [tables.column(place) for place in (first, second)]
    seen = [{label.lower(): (label, *cell) for label, cell in column.items()} for column in columns]
    common = [key for key in seen[1] if key in seen[0]]
    in_order = [[table[key][1] for key in table if key in common] for table in seen]
    copied = None
    if in_order[0] == in_order[1]:
        both = " and ".join(tables.name(place["table"]) for place in (first, second))
        copied = Reason("labels-in-another-order", {"both": both})
    return [_item(tables, (first, second), seen[0][key], seen[1][key], copied) for key in common]


def _item(
    tables: Tables,
    places: tuple[dict[str, Any], dict[str, Any]],
    before: tuple[str, str, At],
    after: tuple[str, str, At],
    copied: Reason | None,
) -> Item:
    (first, second), (label, text, cell) = places, after
    intervals = [
        tables.interval(place["table"], place["value"], printed)
        for place, printed in ((first, before[1]), (second, text))
    ]
    consistent = intervals[0].meets(intervals[1])
    tolerance = float(intervals[0].half + intervals[1].half)
    facts = {"before": before[1], "first": tables.name(first["table"])}
    return Item(
        second["table"],
        RULE,
        cell_name(tables, second, label),
        text,
        float(intervals[0].middle),
        consistent,
        tolerance,
        facts,
        (cell, before[2]),
        label,
        None if consistent else copied,
        (intervals[1], intervals[0]),
    )

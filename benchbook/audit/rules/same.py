"""Two tables print one quantity under the same labels: the numbers should be the same."""

from __future__ import annotations

from typing import Any

from benchbook.audit.tables import Item, Tables, place_name

RULE = "same"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each label that both columns have, compared without regard to case."""
    return [item for one in declared for item in _pair(tables, one["first"], one["second"])]


def _pair(tables: Tables, first: dict[str, Any], second: dict[str, Any]) -> list[Item]:
    seen = [
        {label.lower(): (label, cell) for label, cell in tables.column(place).items()}
        for place in (first, second)
    ]
    items = []
    for key in (key for key in seen[1] if key in seen[0]):
        (label, before), (_, text) = seen[0][key], seen[1][key]
        intervals = [
            tables.interval(place["table"], place["value"], cell)
            for place, cell in ((first, before), (second, text))
        ]
        consistent = intervals[0].meets(intervals[1])
        tolerance = float(intervals[0].half + intervals[1].half)
        words = f"{label} is {before} in {first['table']} and {text} in {second['table']}"
        # The label whose numbers are these two the other way round.
        swapped = [
            seen[0][other][0]
            for other in seen[0]
            if other in seen[1] and (seen[0][other][1], seen[1][other][1]) == (text, before)
        ]
        if not consistent and swapped:
            words += f"; the numbers of {label} and {swapped[0]} are swapped"
        where = place_name(second, seen[1][key][0]) + f", {second['value']}"
        recomputed = float(intervals[0].middle)
        items.append(
            Item(second["table"], RULE, where, text, recomputed, consistent, tolerance, f"{words}.")
        )
    return items

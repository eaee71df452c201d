"""Numbers that only rise, or only fall, along labels that are numbers: a longer message takes
longer, a larger area costs more."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from benchbook.audit.rules.slope import steps
from benchbook.audit.tables import At, Item, Tables, place_name
from benchbook.core import number_format

RULE, KIND = "order", "number"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item for each column: every step, as far as digits and slack allow."""
    return [_column(tables, check, value) for check in declared for value in check["values"]]


def _column(tables: Tables, check: dict[str, Any], value: str) -> Item:
    table, place = check["table"], {**check, "value": value}
    column = tables.column(place)
    steps(table, column)  # refuses labels that are no numbers
    falls = check["direction"] == "fall"
    slack = 1 + Fraction(str(check.get("slack_percent", 0))) / 100
    ordered = sorted(column.items(), key=lambda cell: Fraction(cell[0]), reverse=falls)
    odd: list[tuple[str, At]] = []
    for (before, (low, _)), (after, (high, cell)) in pairwise(ordered):
        least, most = (tables.interval(table, value, text) for text in (low, high))
        if least.low > most.high * slack:
            odd.append((f"{high} at {after} next to {low} at {before}", cell))
    heading = tables.heading(table, value)
    where = ", ".join(filter(None, [f"column ‘{heading}’", place_name(check)]))
    printed = ", ".join(text for text, _ in column.values())
    facts = {
        "column": heading,
        "direction": check["direction"],
        "along": tables.heading(table, check["label"]),
        "odd": [step for step, _ in odd],
        "because": check["because"],
    }
    return Item(
        table,
        RULE,
        where,
        printed,
        "in order" if not odd else number_format.listed([step for step, _ in odd]),
        not odd,
        None,
        facts,
        tuple(cell for _, cell in odd) or (At(table, None, value),),
    )

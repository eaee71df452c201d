"""A printed maximum, minimum or mean of a row's numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchbook.audit.rounding import Interval
from benchbook.audit.rules.spread import numbers
from benchbook.audit.tables import Item, Tables, cell_name, checked

RULE, KIND = "extreme", "number"
NAMES = {"max": "largest", "min": "smallest", "mean": "mean"}


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each printed extreme whose row is found, labels compared without regard to case."""
    items = []
    for question in declared:
        rows = {label.lower(): cells for label, cells in numbers(tables, question["of"]).items()}
        place = question["printed"]
        decimals = tables.decimals.get(place["table"])
        for label, (text, cell) in tables.column(place).items():
            cells = [seen for _, seen in rows.get(label.lower(), [])]
            if cells:
                inside = tables.name(question["of"]["table"])
                facts = {"which": NAMES[question["which"]], "of": inside}
                where, value = cell_name(tables, place, label), _of(cells, question["which"])
                more = {"decimals": decimals, "label": label}
                items.append(checked(RULE, cell, where, text, value, facts, **more))
    return items


def _of(cells: list[Interval], which: str) -> Interval:
    lows, highs = [cell.low for cell in cells], [cell.high for cell in cells]
    if which == "mean":
        return Interval(sum(lows, Fraction()) / len(lows), sum(highs, Fraction()) / len(highs))
    return Interval(max(lows), max(highs)) if which == "max" else Interval(min(lows), min(highs))

"""Scenarios that a source announces, against the settings that its tables measure."""

from __future__ import annotations

from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.rounding import exactly
from benchbook.audit.tables import Item, Tables
from benchbook.core import number_format

RULE, KIND = "scenarios", "plan"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each announced scenario: measured in at least one table, or in none."""
    return [item for check in declared for item in _scenarios(tables, check)]


def _scenarios(tables: Tables, check: dict[str, Any]) -> list[Item]:
    announced = check["announced"]
    measured = {place["table"]: _multiples(tables, place) for place in check["measured"]}
    ranges = number_format.listed(
        [
            f"{min(multiples):,.4g} to {max(multiples):,.4g} times ({tables.name(table)})"
            for table, multiples in measured.items()
        ]
    )
    items = []
    for text, (multiple, cell) in tables.column(announced).items():
        relation = check["relations"].get(text)
        if relation is None:
            continue
        wanted = float(exactly(multiple).middle)
        near = check.get("equal_within_percent", 5) / 100
        fitting = [
            table
            for table, values in measured.items()
            if any(_fits(value, wanted, relation, near) for value in values)
        ]
        facts = {
            "fitting": list(map(tables.name, fitting)),
            "near": near if relation == "equal" and not fitting else None,
        }
        items.append(
            Item(
                announced["table"],
                RULE,
                f"row ‘{text}’",
                f"{text} {multiple}",
                ranges,
                bool(fitting),
                near * wanted if relation == "equal" else None,
                facts,
                (cell,),
                text,
                None if fitting else Reason("not-measured"),
            )
        )
    return items


def _multiples(tables: Tables, place: dict[str, Any]) -> list[float]:
    """The settings that have numbers, as multiples of the reference."""
    reference = exactly(1)
    for term in place["times"]:
        reference = reference * (tables.cell(term) if isinstance(term, dict) else exactly(term))
    table = place["table"]
    swept = tables.swept.get(table, {})
    return [
        setting * swept["bytes_each"] / swept.get("buffers", 1) / float(reference.middle)
        for column, setting in tables.settings(table).items()
        if tables.outcome(table, column) == "numbers"
    ]


def _fits(value: float, wanted: float, relation: str, near: float) -> bool:
    if relation == "equal":
        return abs(value / wanted - 1) <= near
    return value < wanted * (1 - near) if relation == "below" else value > wanted * (1 + near)

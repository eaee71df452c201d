"""A bound that the source states on its spreads: all, or most, of them within so many percent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchbook.audit.rounding import shown
from benchbook.audit.rules.spread import numbers, spread
from benchbook.audit.tables import Item, Tables

RULE, KIND = "bound", "claim"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item per stated bound: spreads recomputed from the tables, not those printed."""
    return [_bound(tables, check) for check in declared]


def _bound(tables: Tables, check: dict[str, Any]) -> Item:
    spreads = {
        f"{label} in {tables.name(of['table'])}": spread(
            [seen for _, seen in cells], check.get("over", "max")
        )
        for of in check["of"]
        for label, cells in numbers(tables, of).items()
        if len(cells) > 1
    }
    limit = Fraction(str(check["at_most_percent"]))
    # Within, as far as the digits of the cells tell.
    beyond = {name: value for name, value in spreads.items() if value.low > limit}
    inside = len(spreads) - len(beyond)
    holds = not beyond if check["share"] == "all" else 2 * inside > len(spreads)
    stated = f"{check['share']} within {float(limit):g} %"
    facts = {
        "share": check["share"],
        "limit": float(limit),
        "inside": inside,
        "spreads": len(spreads),
        "beyond": [f"{name} {shown(value, '0.0')} %" for name, value in beyond.items()],
    }
    named = ", ".join(of["table"] for of in check["of"])
    share = f"{inside} of {len(spreads)}"
    return Item(named, RULE, "the spreads of all rows", stated, share, holds, None, facts)

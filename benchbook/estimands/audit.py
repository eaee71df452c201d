"""The share of the source's own numbers, of one table and rule of the audit, that agree with what
follows from its other numbers."""

from __future__ import annotations

from typing import Any

from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    del estimand
    return "share of the numbers checked"


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    items = [
        one
        for one in facts["audit"]
        if (one["table"], one["rule"]) == (estimand["table"], estimand["rule"])
        and ("column" not in estimand or _column(one) == estimand["column"])
    ]
    if not items:
        return Fact(None, f"the audit has no {estimand['rule']} of {estimand['table']}")
    agree = sum(bool(one["consistent"]) for one in items)
    return Fact(agree / len(items), f"{agree} of {len(items)} numbers agree")


def _column(item: dict[str, Any]) -> str:
    """The column of the number that was recomputed: the first of the cells."""
    return str(item["cells"][0]["column"]) if item["cells"] else ""

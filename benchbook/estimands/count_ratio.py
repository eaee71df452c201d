"""The ratio of what two points counted: an observation without noise, as packets sent."""

from __future__ import annotations

from typing import Any

from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import ABSENT, Fact, missing, roles_of, usable

SIDES = ("numerator", "denominator")


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"ratio of {estimand['count'].replace('_', ' ')}"


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and the two counts."""
    roles = roles_of(estimand, facts["content"], facts["sizes"])
    _, why = usable(estimand, roles, facts["points"])
    if why:
        return Fact(None, why)
    names = [roles[side][0].id for side in SIDES]
    counts = [_count(facts["points"][name], estimand["count"]) for name in names]
    for name, count in zip(names, counts, strict=True):
        if not count:
            return Fact(None, missing(name, ABSENT))
    top, bottom = counts
    words = f"counted in each run of the program: {top:,.0f} and {bottom:,.0f}"
    return Fact(top / bottom, Reason(Code.STATED, {"text": words}))


def _count(point: dict[str, Any], name: str) -> float:
    return float(point["observations"].get(name) or 0)

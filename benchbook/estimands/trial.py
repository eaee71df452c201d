"""How a trial of experiment.yaml ended: the signal that ended it (0 for none), or its status."""

from __future__ import annotations

from typing import Any

from benchbook.define.points import NOT_IN_PRESET
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return str(estimand["quantity"]).replace("_", " ")


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    named = [one for one in facts["trials"] if one["name"] == f"trial: {estimand['trial']}"]
    if not named:
        return Fact(None, NOT_IN_PRESET)
    item = named[0]
    if item["state"] != "ok":
        return Fact(None, item["reason"])
    return Fact(float(item[estimand["quantity"]] or 0), item["reason"])

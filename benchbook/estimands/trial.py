"""How a trial of experiment.yaml ended: the signal that ended it (0 for none), or its status."""

from __future__ import annotations

from typing import Any

from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return str(estimand["quantity"]).replace("_", " ")


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    named = [item for item in facts["trials"] if item["name"] == f"trial: {estimand['trial']}"]
    if not named:
        return Fact(None, Reason(Code.NOT_IN_PRESET))
    row = named[0]
    reason = Reason(Code.STATED, {"text": row["reason"]})
    if row["state"] != "ok":
        return Fact(None, reason)
    return Fact(float(row[estimand["quantity"]] or 0), reason)

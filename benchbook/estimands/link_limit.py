"""The largest static array, in bytes, with which a variant still compiles and links; 0 for none."""

from __future__ import annotations

from typing import Any

from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    del estimand
    return "bytes"


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    named = [item for item in facts["limits"] if item["variant"] == estimand["variant"]]
    if not named:
        return Fact(None, Reason(Code.NOT_IN_PRESET))
    row = named[0]
    reason = Reason(Code.STATED, {"text": row["reason"]})
    if row["outcome"] == "cannot_run":
        return Fact(None, reason)
    return Fact(float(row["links_bytes"] or 0), reason)

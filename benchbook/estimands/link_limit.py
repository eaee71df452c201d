"""The largest static array, in bytes, with which a variant still compiles and links; 0 for none."""

from __future__ import annotations

from typing import Any

from benchbook.define.points import NOT_IN_PRESET
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    del estimand
    return "bytes"


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    named = [one for one in facts["limits"] if one["variant"] == estimand["variant"]]
    if not named:
        return Fact(None, NOT_IN_PRESET)
    item = named[0]
    if item["outcome"] == "cannot_run":
        return Fact(None, item["reason"])
    return Fact(float(item["links_bytes"] or 0), item["reason"])

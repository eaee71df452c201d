"""Something that no host measures by itself, such as devices that answer each other: never a
number, always the reason."""

from __future__ import annotations

from typing import Any

from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number would be, in words."""
    return str(estimand["what"])


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """No number, and why."""
    del facts
    return Fact(None, Reason(Code.STATED, {"text": estimand["why"]}))

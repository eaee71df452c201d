"""The share of the source's own numbers, of one table and rule of the audit, that agree with what
follows from its other numbers."""

from __future__ import annotations

from typing import Any

from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import Fact


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    del estimand
    return "share of the numbers checked"


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
    """The number, and what was found."""
    items = [
        item
        for item in facts["audit"]
        if (item["table"], item["rule"]) == (estimand["table"], estimand["rule"])
        and ("column" not in estimand or _column(item) == estimand["column"])
    ]
    if not items:
        named = {key: estimand[key] for key in ("table", "rule")}
        return Fact(None, Reason(Code.NO_CHECK, named))
    agree = sum(bool(item["consistent"]) for item in items)
    reason = Reason(Code.NUMBERS_AGREE, {"agree": agree, "of": len(items)})
    return Fact(agree / len(items), reason)


def _column(check: dict[str, Any]) -> str:
    """The column of the number that was recomputed: the first of the cells."""
    return str(check["cells"][0]["column"]) if check["cells"] else ""

"""Why a printed number does not fit, as codes; report/ writes them as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reason:
    """Why a number does not fit, or what is said of one part of a check: a code, which report/
    writes as words, with what those need."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As audit.json carries it."""
        return {"code": self.code, **{name: recorded(fact) for name, fact in self.facts.items()}}


def recorded(fact: Any) -> Any:
    """What is said of a check, for JSON: reasons as their records."""
    if isinstance(fact, Reason):
        return fact.record()
    return [recorded(part) for part in fact] if isinstance(fact, list) else fact

"""What a detector or a rule finds: the artefact, its effect, and the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Effect = Literal["invalidates", "biases", "explains", "informs"]


@dataclass(frozen=True)
class Finding:
    """A detector's statement about the points `where`; factor: seen ÷ honest, None if unknown.

    One factor speaks for all points, the strongest or their middle; `factors` has those of single
    points, as far as they are known.
    """

    artefact: str
    effect: Effect
    where: list[str]
    confidence: float
    evidence: list[dict[str, Any]]
    explanation: str
    remedy: str
    factor: float | None = None
    factors: dict[str, float] = field(default_factory=dict)

    def record(self, experiment: str) -> dict[str, Any]:
        """As findings.json carries it."""
        return {**asdict(self), "experiment": experiment}


def proof(name: str, value: Any, unit: str, source: str, state: str = "ok") -> dict[str, Any]:
    """One row of a finding's evidence."""
    return {"name": name, "value": value, "unit": unit, "source": source, "state": state}

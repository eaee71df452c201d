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


@dataclass(frozen=True)
class Artefact:
    """An entry of the catalogue of artefacts: its id, what to do where it is found, and what
    follows from its nature.

    is_about_host: a finding is true of the machine, whatever ran there. needs_quiet: other work on
    the machine may truly cause it. is_timing_only: nothing but time decides, so that its detector
    may err now and then and is judged by shares.
    """

    id: str
    remedy: str = ""
    is_about_host: bool = False
    needs_quiet: bool = False
    is_timing_only: bool = False

    def finding(
        self,
        *,
        effect: Effect,
        where: list[str],
        confidence: float,
        evidence: list[dict[str, Any]],
        explanation: str,
        remedy: str = "",
        factor: float | None = None,
        factors: dict[str, float] | None = None,
    ) -> Finding:
        """A finding of this artefact; `remedy` stands in for the catalogue's."""
        return Finding(
            self.id,
            effect,
            where,
            confidence,
            evidence,
            explanation,
            remedy or self.remedy,
            factor,
            factors or {},
        )


def proof(name: str, value: Any, unit: str, source: str, state: str = "ok") -> dict[str, Any]:
    """One row of a finding's evidence."""
    return {"name": name, "value": value, "unit": unit, "source": source, "state": state}

"""Builds findings: effect, confidence and words of each kind stand in ../findings.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.core import sizes
from benchbook.detect import artefact
from benchbook.explain.model import Result
from benchbook.explain.printed_digits import is_number
from benchbook.findings import Effect, Finding, Format, merged, proof

CATALOGUE = Path(__file__).parent.parent / "findings.toml"
Proof = Result | tuple[str, Any, str, object]  # name, value, unit, and its line or source


@dataclass(frozen=True)
class Kind:
    """One kind of finding, as findings.toml has it; `by_name`: whether its evidence is called by
    the names of results alone."""

    artefact: str
    text: str
    effect: Effect = "invalidates"
    confidence: float = 1.0
    remedy: str = ""
    by_name: bool = False


class _Words(Format):
    """`{mean:,.6g}` of a result is its value with its unit, `{mean:unit}` that unit alone."""

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, Result):
            unit = "" if value.unit == "1" else f" {value.unit}"
            if spec == "unit":
                return unit
            return self.format_field(value.value, spec) + unit
        return super().format_field(value, spec)


_WORDS = _Words()


@cache
def kinds() -> dict[str, Kind]:
    """All kinds by their names. What an artefact says of itself holds for each of its kinds, and
    what a kind says for one that is `like` it."""
    catalogue = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    return {
        name: Kind(artefact, **kind)
        for artefact, entry in catalogue.items()
        for name, kind in merged(entry)[1].items()
    }


def finding(
    name: str,
    words: Mapping[str, Any],
    *,
    about: Iterable[Result | str] | None = None,
    evidence: Iterable[Proof] | None = None,
    factor: float | None = None,
    confidence: float | None = None,
    effect: Effect | None = None,
) -> Finding:
    """A finding of the kind `name`, whose text the `words` fill (`factor` is one of them).

    It is about these results, or places of a log in words; where none are named, about all results
    among the words. They are the evidence themselves where no other is named.
    """
    kind = kinds()[name]
    shown = [word for word in words.values() if isinstance(word, Result)]
    places = list(shown if about is None else about)
    shown = [place for place in places if isinstance(place, Result)]
    words = {**words, "factor": factor}
    return Finding(
        artefact=kind.artefact,
        effect=effect or kind.effect,
        where=[place.where if isinstance(place, Result) else place for place in places],
        confidence=kind.confidence if confidence is None else confidence,
        evidence=[_proof(item, kind) for item in (shown if evidence is None else evidence)],
        explanation=_WORDS.vformat(kind.text, (), words),
        remedy=_WORDS.vformat(_remedy(kind), (), words),
        factor=factor,
    )


class Relation(NamedTuple):
    """A printed number, what other printed numbers make of it, and how far from that it may be by
    the digits of all of them."""

    printed: float
    made: float
    slack: float

    def holds(self) -> bool:
        """Whether it is that; of what is no number nobody knows, so that it does."""
        if not is_number(self.printed) or not is_number(self.made):
            return True
        return abs(self.printed - self.made) <= self.slack


def unequal(
    name: str,
    relation: Relation,
    words: Mapping[str, Any],
    *,
    factored: bool = True,
    about: Iterable[Result | str] | None = None,
    evidence: Iterable[Proof] | None = None,
) -> Iterator[Finding]:
    """A finding of the kind `name` where a relation does not hold: printed ÷ made is its factor if
    `factored`, and the words know both."""
    printed, made, _ = relation
    if not relation.holds():
        factor = printed / made if factored and made > 0 else None
        words = {**words, "printed": printed, "made": made}
        yield finding(name, words, about=about, evidence=evidence, factor=factor)


def _proof(item: Proof, kind: Kind) -> dict[str, Any]:
    if isinstance(item, Result):
        called = item.name if kind.by_name else item.where
        return proof(called, item.value, item.unit, f"line {item.line}")
    called, value, unit, source = item
    return proof(called, value, unit, f"line {source}" if isinstance(source, int) else str(source))


def _remedy(kind: Kind) -> str:
    """What to do; of a kind with none, or with the name of a detector's kind, what that says."""
    if " " in kind.remedy:
        return kind.remedy
    entry = artefact(kind.artefact)
    return entry.kinds[kind.remedy].remedy if kind.remedy else entry.remedy


def span(results: Sequence[Result]) -> str:
    """The lines from the first of these results to the last."""
    first, last = results[0].line, results[-1].line
    return f"lines {first} to {last}" if first != last else f"line {first}"


def at_size(result: Result) -> Proof:
    """A figure of a sweep as evidence: called by its name and the size of its message."""
    size = sizes.format_bytes(result.of["message_bytes"])
    return f"{result.name} at {size}", result.value, result.unit, result.line

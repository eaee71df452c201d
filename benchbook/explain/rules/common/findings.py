"""Builds findings: all that is fixed about each kind of them stands in ../findings.toml."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchbook.core import number_format
from benchbook.detect import artefact
from benchbook.explain.model import Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Ask
from benchbook.findings import Effect, Finding, Format, merged, proof

CATALOGUE = Path(__file__).parent.parent / "findings.toml"
NO_WORDS: Mapping[str, Any] = MappingProxyType({})
SHOWN = 3  # clauses of a finding that lists several
_DIGITS = re.compile(r",\.(\d+)g")
MOST_DIGITS = 15  # of a float
# How a number is written whose place in the words ends with `:giga}`, beside those of all texts.
FORMATS: dict[str, Callable[[Any], str]] = {
    "time_s": lambda value: number_format.duration(value * 1e9),
    "mega": lambda value: number_format.number(value / 1e6),
    "mebi": lambda value: number_format.number(value / 2**20),
    "giga": lambda value: number_format.number(value / 1e9),
    "gb_per_s": lambda rate: f"{_three_digits(rate / 1e9)} GB/s" if rate < math.inf else "infinite",
    "none": lambda _: "",  # of what only has to be known
}


def _three_digits(value: float) -> str:
    """A number with three digits at least, and all those of a large one."""
    return number_format.number(value) if value < 1e3 else number_format.count(value)


def _without_exponent(value: Any, spec: str) -> tuple[Any, str]:
    """A number and how it is written: a large one as a whole one instead of with an exponent."""
    if (asked := _DIGITS.fullmatch(spec)) and isinstance(value, float):
        digits = int(asked[1])
        if 10**digits <= abs(value) < 10**MOST_DIGITS:
            return value, ",.0f"
    return value, spec


@dataclass(frozen=True)
class Kind:
    """One kind of finding, as findings.toml has it; its head explains the fields."""

    artefact: str
    text: str
    effect: Effect = "invalidates"
    confidence: float = 1.0
    remedy: str = ""
    by_name: bool = False
    about: Sequence[str] | None = None
    evidence: Sequence[str | list[str]] | None = None
    factored: bool = True
    option: str = ""
    phrases: Mapping[str, str] = field(default_factory=dict)


class _UnknownError(Exception):
    """A word that a phrase has, and that nothing is known of."""


class _Filler(Format):
    """Fills texts of a kind with words: what is none of them is a phrase of the kind."""

    def __init__(self, kind: Kind, words: Mapping[str, Any]) -> None:
        self.kind, self.words = kind, words

    def fill(self, text: str) -> str:
        """The text with its words."""
        return self.vformat(text, (), self.words)

    def phrase(self, name: str) -> str:
        """A phrase of the kind; "" where one of its words is None."""
        try:
            return self.fill(self.kind.phrases[name])
        except _UnknownError:
            return ""

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A word, or a phrase where there is no such word."""
        if key not in kwargs and key in self.kind.phrases:
            return self.phrase(str(key))
        if kwargs[str(key)] is None:
            raise _UnknownError(key)
        return kwargs[str(key)]

    def format_field(self, value: Any, spec: str) -> str:
        """`{mean:,.6g}` of a result is its value with its unit, `{mean:unit}` that unit alone,
        `{count:plural reply|replies}` a number of them, `{why:phrase}` the phrase of that name."""
        if isinstance(value, Result):
            if spec == "rate" and value.unit == "bit/s":
                return number_format.bit_rate(value.value)
            unit = "" if value.unit == "1" else f" {value.unit}"
            spec = ",.10g" if spec == "rate" else spec
            return unit if spec == "unit" else self.format_field(value.value, spec) + unit
        if spec == "phrase":
            return self.phrase(value)
        if "|" in spec:
            return number_format.plural(value, *spec.removeprefix("plural ").split("|"))
        if spec in FORMATS:
            return FORMATS[spec](value)
        return super().format_field(*_without_exponent(value, spec))

    def known(self, name: str) -> list[Any]:
        """What is known of a word, an attribute of it too; a list of several as it is."""
        try:
            value = self.get_field(name, (), self.words)[0]
        except _UnknownError:
            return []
        several = value if isinstance(value, list) else [value]
        return [each for each in several if each is not None]

    def proofs(self, entry: str | list[str]) -> Iterator[dict[str, Any]]:
        """The rows of evidence that an entry of the kind's `evidence` stands for."""
        called, name, *more = entry if isinstance(entry, list) else ("", entry)
        for value in self.known(name):
            if isinstance(value, Result):
                own = value.name if self.kind.by_name else value.where
                source = self.fill(more[0]) if more else f"line {value.line}"
                yield proof(self.fill(called) or own, value.value, value.unit, source)
            else:
                unit, source = map(self.fill, more)
                source = f"line {source}" if source.isdecimal() else source
                yield proof(self.fill(called), value, unit, source)


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
    words: Mapping[str, Any] = NO_WORDS,
    *,
    about: Iterable[Result | str] | None = None,
    factor: float | None = None,
    confidence: float | None = None,
    effect: Effect | None = None,
    **more: Any,
) -> Finding:
    """A finding of the kind `name`, whose text the words fill, and more of them (`factor` is one).

    It is about these results, or places of a log in words; where none are named, about those that
    the kind names, or all results among the words. These are the evidence where the kind has none.
    """
    kind = kinds()[name]
    words = {**words, **more}
    filler = _Filler(kind, {**words, "factor": factor})
    if about is None and kind.about is not None:
        about = [place for word in kind.about for place in filler.known(word)]
    elif about is None:
        about = [word for word in words.values() if isinstance(word, Result)]
    places = list(about)
    if kind.evidence is None:
        shown = _Filler(kind, {"shown": [place for place in places if isinstance(place, Result)]})
        evidence = list(shown.proofs("shown"))
    else:
        evidence = [row for entry in kind.evidence for row in filler.proofs(entry)]
    return Finding(
        artefact=kind.artefact,
        effect=effect or kind.effect,
        where=[place.where if isinstance(place, Result) else place for place in places],
        confidence=kind.confidence if confidence is None else confidence,
        evidence=evidence,
        explanation=filler.fill(kind.text),
        remedy=filler.fill(_remedy(kind)),
        factor=factor,
    )


def ask(name: str, words: Mapping[str, Any] = NO_WORDS, **more: Any) -> Ask:
    """The question of the kind `name`, whose text the words fill: what would decide."""
    kind = kinds()[name]
    return Ask(kind.artefact, kind.option, _Filler(kind, {**words, **more}).fill(kind.text))


def unequal(
    name: str,
    printed: float,
    made: float,
    slack: float,
    words: Mapping[str, Any] = NO_WORDS,
    **more: Any,
) -> Iterator[Finding]:
    """A finding of the kind `name` where a printed number is not what other printed numbers make
    of it, with what the digits of all of them leave open; the words know both. Of what is no number
    nobody knows. Printed ÷ made is its factor if the kind is `factored`."""
    if is_number(printed) and is_number(made) and abs(printed - made) > slack:
        factor = printed / made if kinds()[name].factored and made > 0 else None
        yield finding(name, words, factor=factor, printed=printed, made=made, **more)


class Clause(NamedTuple):
    """What is wrong with some results: a phrase of the finding that lists it, with its words, and
    the results; all among the words where none are named."""

    phrase: str
    words: Mapping[str, Any]
    named: Sequence[Result] = ()

    @property
    def results(self) -> Sequence[Result]:
        """What it is about."""
        return self.named or [word for word in self.words.values() if isinstance(word, Result)]


def listing(name: str, clauses: Sequence[Clause], **words: Any) -> Iterator[Finding]:
    """A finding of the kind `name` that lists the first of these clauses, if there are any: about
    all of their results, with those of the first as evidence (`shown`)."""
    if not clauses:
        return
    kind, first = kinds()[name], clauses[:SHOWN]
    texts = [_Filler(kind, clause.words).phrase(clause.phrase) for clause in first]
    if left := len(clauses) - len(first):
        texts.append(_Filler(kind, {"left": left}).phrase("more"))
    places = dict.fromkeys(result.where for clause in clauses for result in clause.results)
    shown = [result for clause in first for result in clause.results]
    own: dict[str, Any] = {"text": number_format.listed(texts), "shown": shown, "about": places}
    yield finding(name, **(own | words))


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

"""What a detector or a rule finds: the artefact, its effect, and the evidence for it.

What is always said of an artefact stands in a catalogue (TOML): what to do, for each kind of
finding its effect, confidence, text and evidence, and under [cannot-tell] the reasons for which its
detector abstains. Texts have places for words:

- `{size:bytes}` is written by `FORMATS`, `{rounds:plural round}` with its noun, and any other place
  as `format` does. A list is written by its ends (`3 to 5`), unless it is `{names:listed}`
  or another of `JOINED`.
- A text may have several parts. A part whose word is unknown (None, NaN, an empty list) is left
  out; so is `{if = "word", text = "…"}` where the word is unknown or false, and with `unless` where
  it is neither.
"""

from __future__ import annotations

import math
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchbook.core import number_format, sizes

Effect = Literal["invalidates", "biases", "explains", "informs"]
Words = Mapping[str, Any]
Part = str | Mapping[str, str]
NATURE = ("is_about_host", "needs_quiet", "is_timing_only")  # of an artefact, whatever the kind

# How a value is written whose place in a text ends with `:number}` and so on.
FORMATS: dict[str, Callable[[Any], str]] = {
    "number": number_format.number,
    "duration": number_format.duration,
    "seconds": number_format.seconds,
    "share": number_format.share,
    "count": number_format.count,
    "begin": lambda text: text[:1].upper() + text[1:],
    "bytes": lambda size: sizes.format_bytes(round(size)),
    "GB/s": lambda bytes_per_s: f"{bytes_per_s / 1e9:.1f} GB/s",
    "percent": lambda part: f"{100 * part:.0f} %",
    "reciprocal": lambda part: f"1/{number_format.number(1 / part)}",
}
# How all values of a list are written.
JOINED: dict[str, Callable[[list[str]], str]] = {
    "listed": number_format.listed,
    "clauses": "; ".join,
    "sentences": ". ".join,
}


@dataclass(frozen=True)
class Finding:
    """A detector's statement about the points `where`; factor: seen ÷ honest, None if unknown.

    One factor speaks for all points, the strongest or their middle; `factors` has those of single
    points, as far as they are known. `sides` has the points of each side where only a comparison
    between the sides is at fault: points of one side may be compared with each other.
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
    sides: list[list[str]] = field(default_factory=list)

    def record(self, experiment: str) -> dict[str, Any]:
        """As findings.json carries it."""
        return {**asdict(self), "experiment": experiment}


class Fact(NamedTuple):
    """A row of evidence as a catalogue declares it; `word` has its value, if that is not its name.

    Of an unknown value there is no row, of a list one for each of its values.
    """

    name: str
    unit: str
    source: str
    word: str = ""


@dataclass(frozen=True)
class Kind:
    """What is always said in one kind of finding of an artefact."""

    text: tuple[Part, ...]
    effect: Effect = "informs"
    confidence: float = 1.0
    remedy: str = ""
    evidence: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Artefact:
    """An entry of the catalogue of artefacts: its id, what to do where it is found, what follows
    from its nature, its kinds of findings by name ("" where it has one only), and the reasons for
    which its detector abstains.

    is_about_host: a finding is true of the machine, whatever ran there. needs_quiet: other work on
    the machine may truly cause it. is_timing_only: nothing but time decides, so that its detector
    may err now and then and is judged by shares.
    """

    id: str
    remedy: str = ""
    is_about_host: bool = False
    needs_quiet: bool = False
    is_timing_only: bool = False
    kinds: Mapping[str, Kind] = field(default_factory=dict, hash=False)
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)

    def cannot_tell(self, reason: str, **words: Any) -> str:
        """Why it cannot be told of a point, in the words of the catalogue."""
        return filled((self.reasons[reason],), words)

    def finding(
        self,
        where: Iterable[str | Words],
        words: Words,
        kind: str = "",
        *,
        effect: Effect | None = None,
        confidence: float | None = None,
        evidence: Iterable[dict[str, Any]] = (),
        factor: float | None = None,
        factors: dict[str, float] | None = None,
        sides: Iterable[Iterable[Words]] = (),
    ) -> Finding:
        """A finding of that kind about these points (ids, or rows that have one).

        `words` fill its texts, and have the values of its evidence; the number of `points`, whether
        they are `several`, and the `factor` are among them. `effect` and `confidence` are the
        catalogue's where they are not given. Rows of `evidence` come before the declared ones.
        """
        own = self.kinds[kind]
        places = sorted({place if isinstance(place, str) else place["where"] for place in where})
        places = [place for place in places if place]
        words = {"points": len(places), "several": len(places) > 1, "factor": factor, **words}
        return Finding(
            artefact=self.id,
            effect=effect or own.effect,
            where=places,
            confidence=own.confidence if confidence is None else confidence,
            evidence=[*evidence, *_proofs(own.evidence, words)],
            explanation=filled(own.text, words),
            remedy=filled((own.remedy or self.remedy,), words),
            factor=factor,
            factors=factors or {},
            sides=[sorted(str(row["where"]) for row in side) for side in sides],
        )


def artefact_in(catalogue: Path, artefact: str) -> Artefact:
    """The artefact of that id, as a file of its own declares it."""
    entry = tomllib.loads(catalogue.read_text(encoding="utf-8"))
    reasons = entry.pop("cannot-tell", {})
    common, kinds = merged(entry)
    nature = {name: value for name, value in common.items() if name in NATURE}
    if not kinds:
        kinds = {"": common}
    return Artefact(
        artefact,
        common.get("remedy", ""),
        **nature,
        kinds={
            name: _kind({key: value for key, value in kind.items() if key not in NATURE})
            for name, kind in kinds.items()
        },
        reasons=reasons,
    )


def merged(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What an entry of a catalogue says for all of its kinds, and each kind with that.

    What a kind says holds for one that is `like` it, too.
    """
    own = {name: kind for name, kind in entry.items() if isinstance(kind, dict)}
    common = {name: value for name, value in entry.items() if name not in own}
    kinds = {name: common | own.get(kind.get("like", ""), {}) | kind for name, kind in own.items()}
    return common, {
        name: {key: value for key, value in kind.items() if key != "like"}
        for name, kind in kinds.items()
    }


def _kind(entry: dict[str, Any]) -> Kind:
    text = entry["text"]
    return Kind(
        **entry
        | {
            "text": (text,) if isinstance(text, str) else tuple(text),
            "evidence": tuple(Fact(*fact) for fact in entry.get("evidence", ())),
        }
    )


class Format(string.Formatter):
    """Writes the words of a text; `FORMATS`, nouns and lists as the module says."""

    def format_field(self, value: Any, spec: str) -> str:
        """The value as the end of its place says."""
        if spec in JOINED:
            return JOINED[spec](value)
        if isinstance(value, list):
            ends = (self.format_field(end, spec) for end in (min(value), max(value)))
            return " to ".join(dict.fromkeys(ends))
        if spec.startswith("plural "):
            return number_format.plural(value, spec.removeprefix("plural "))
        return FORMATS[spec](value) if spec in FORMATS else format(value, spec)


_FORMAT = Format()


def filled(text: Iterable[Part], words: Words) -> str:
    """The parts of a text that hold, with these words in their places.

    KeyError: a text has a place for a word that is not among them.
    """
    return "".join(_FORMAT.vformat(part, (), words) for part in _holding(text, words))


def _holding(text: Iterable[Part], words: Words) -> Iterator[str]:
    for part in text:
        if isinstance(part, str):
            holds, part_text = True, part
        else:
            holds, part_text = _condition(part, words), part["text"]
        places = {name for _, name, _, _ in _FORMAT.parse(part_text) if name}
        if holds and not any(_is_unknown(words[name]) for name in places):
            yield part_text


def _condition(part: Mapping[str, str], words: Words) -> bool:
    wanted = "if" in part
    word = words[part["if"] if wanted else part["unless"]]
    return (not _is_unknown(word) and bool(word)) == wanted


def _is_unknown(value: Any) -> bool:
    """Whether it is None, NaN or an empty list."""
    if isinstance(value, list):
        return not value
    return value is None or (isinstance(value, float) and math.isnan(value))


def _proofs(facts: Iterable[Fact], words: Words) -> Iterator[dict[str, Any]]:
    for fact in facts:
        values = words[fact.word or fact.name]
        for value in values if isinstance(values, list) else [values]:
            if not _is_unknown(value):
                name, source = (filled((text,), words) for text in (fact.name, fact.source))
                yield proof(name, value, fact.unit, source)


def proof(name: str, value: Any, unit: str, source: str, state: str = "ok") -> dict[str, Any]:
    """One row of a finding's evidence."""
    return {"name": name, "value": value, "unit": unit, "source": source, "state": state}

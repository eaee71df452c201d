"""Findings at the points that they concern: a short name for each, and what stands beside a figure.

Findings of one artefact and one effect share a name, such as X1, which is the same in all pictures
and tables of a page; its letter tells the effect.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchbook.core import number_format
from benchbook.report import artefacts, wording
from benchbook.report.wording import Paper

VERBS = {
    "invalidates": "invalidates",
    "biases": "biases",
    "explains": "explains",
    "informs": "informs about",
}
SAME = 0.005  # a factor this near to 1 is none
LETTERS = {"invalidates": "X", "biases": "B", "explains": "E", "informs": "i"}
EFFECTS = {
    "invalidates": "the number is invalid",
    "biases": "it is biased",
    "explains": "explains the number",
    "informs": "for information",
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])")
Finding = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """The findings of one artefact and one effect; `name` is "" for those that stand at no point:
    about a whole run, or about all that is only emulated."""

    name: str
    effect: str
    artefact: str
    findings: tuple[Finding, ...]
    shown: bool

    @property
    def anchor(self) -> str:
        """The id of the place where the page shows the mark's findings in full."""
        return f"finding-{self.name or f'{self.artefact}-{self.effect}'}"

    @property
    def amount(self) -> int:
        """How many findings it stands for."""
        return len(self.findings)

    @property
    def distinct(self) -> list[Finding]:
        """Its findings; of several that say the same, such as one of each experiment, the first."""
        return list(
            {
                (finding["explanation"], *finding["where"]): finding for finding in self.findings
            }.values()
        )

    @property
    def sentence(self) -> str:
        """The first sentence of the first finding's explanation."""
        return first_sentence(self.findings[0]["explanation"])

    @property
    def heading(self) -> str:
        """`invalidates 3 points: 1.7 to 9.1 times as fast as without it`."""
        where = f" {number_format.plural(len(self.points), 'point')}" if self.points else ""
        verb = VERBS[self.effect] if where else self.effect
        return verb + where + _by(factor_range(self.findings))

    @property
    def points(self) -> list[str]:
        """The points at which it was found, each once."""
        return list(dict.fromkeys(point for finding in self.findings for point in finding["where"]))


@dataclass(frozen=True)
class Note:
    """A mark beside one figure: at how many of its points, by which factor, and in a sentence."""

    mark: Mark
    points: int
    of: int
    factor: str
    sentence: str
    more: int

    @property
    def heading(self) -> str:
        """`invalidates 2 of 3 points here: 1.7 to 9.1 times as fast as without it`."""
        where = f"{self.points} of {number_format.plural(self.of, 'point')}"
        if self.points == self.of:
            several = "both points" if self.of == 2 else f"all {where.split(' of ')[1]}"
            where = several if self.of > 1 else "the one point"
        return f"{VERBS[self.mark.effect]} {where} here{_by(self.factor)}"


@dataclass(frozen=True)
class Marks:
    """All marks of a paper's page."""

    every: list[Mark]
    run: list[Mark]  # those about a whole run, at no point
    by_point: dict[str, list[Mark]]
    head: list[Mark]  # those that only say that the points which emulate do so: told once

    def at(self, *points: str | None) -> list[Mark]:
        """The marks of these points, the gravest first."""
        names = {mark.name for point in points for mark in self.by_point.get(point or "", [])}
        return [mark for mark in self.every if mark.name in names]

    def names(self, *points: str | None) -> list[str]:
        """`["X1", "E2"]`."""
        return [mark.name for mark in self.at(*points)]

    def common(self, points: Iterable[str]) -> list[Mark]:
        """The marks that all of several points carry."""
        several = list(dict.fromkeys(points))
        if len(several) < 2:
            return []
        return [mark for mark in self.at(*several) if set(several) <= set(mark.points)]

    def notes(self, points: Iterable[str | None]) -> list[Note]:
        """Below a figure of these points: a note for each of their marks, the gravest first."""
        shown = list(dict.fromkeys(point for point in points if point))
        return [_note(mark, shown) for mark in self.at(*shown)]

    def in_words(self, points: Iterable[str | None]) -> str:
        """The marks of a figure's points for its text alternative; empty without a mark."""
        notes = self.notes(points)
        if not notes:
            return ""
        parts = [
            f"{note.mark.name} {artefacts.title(note.mark.artefact)} ({note.mark.effect}) at "
            f"{note.points} of {number_format.plural(note.of, 'point')}"
            for note in notes
        ]
        return f" Marked: {'; '.join(parts)}."


def marks_of(paper: Paper) -> Marks:
    """The marks of a paper; those whose points no table shows come after the others."""
    groups: dict[tuple[str, str, bool], list[Finding]] = {}
    emulating = _emulating(paper)
    for finding in paper.get("findings", []):
        at_points = bool(finding["where"]) and not _is_of_emulation(finding, emulating)
        groups.setdefault((finding["effect"], finding["artefact"], at_points), []).append(finding)
    order = sorted(
        groups.items(),
        key=lambda item: (
            list(LETTERS).index(item[0][0]),
            not any(finding["shown"] for finding in item[1]),
            item[0][1],
        ),
    )
    numbers = dict.fromkeys(LETTERS, 0)
    marks = []
    for (effect, artefact, somewhere), findings in order:
        numbers[effect] += somewhere
        name = f"{LETTERS[effect]}{numbers[effect]}" if somewhere else ""
        ranked = tuple(sorted(findings, key=lambda finding: not finding["shown"]))
        marks.append(
            Mark(name, effect, artefact, ranked, any(finding["shown"] for finding in findings))
        )
    by_point: dict[str, list[Mark]] = {}
    named = [mark for mark in marks if mark.name]
    for mark in named:
        for point in mark.points:
            by_point.setdefault(point, []).append(mark)
    unnamed = [mark for mark in marks if not mark.name]
    everywhere = [mark for mark in unnamed if not mark.points]
    return Marks(named, everywhere, by_point, [mark for mark in unnamed if mark.points])


def _emulating(paper: Paper) -> dict[str, set[str]]:
    """Experiment -> its measured points that only emulate something."""
    points: dict[str, set[str]] = {}
    for point in paper.get("points", []):
        if point.get("emulates") and point["state"] == "ok" and not point["twin"]:
            points.setdefault(point["experiment"], set()).add(point["point"])
    return points


def _is_of_emulation(finding: Finding, emulating: dict[str, set[str]]) -> bool:
    """Whether a finding voids just the points that emulate; pictures draw these hollow anyway."""
    return finding["effect"] == "invalidates" and set(finding["where"]) in emulating.values()


def _note(mark: Mark, shown: list[str]) -> Note:
    here = [finding for finding in mark.findings if set(finding["where"]) & set(shown)]
    here.sort(key=lambda finding: (-len(set(finding["where"]) & set(shown)), -_strength(finding)))
    points = set(mark.points) & set(shown)
    return Note(
        mark=mark,
        points=len(points),
        of=len(shown),
        factor=factor_range(here, set(shown)),
        sentence=first_sentence(here[0]["explanation"]),
        more=len(here) - 1,
    )


def _strength(finding: Finding) -> float:
    return abs(math.log(finding["factor"])) if finding["factor"] and finding["factor"] > 0 else 0.0


def factor_range(findings: Iterable[Finding], shown: set[str] | None = None) -> str:
    """`1.7 to 9.1 times as fast as without it`, and `where it is known` if some have none. Empty
    without any, and where none differs from 1 by as much as a figure would show. Of findings that
    know a factor of each point, over their points, or over those that are `shown`. Of findings
    about no point, and where some are faster and some slower: `by a factor of 0.9 to 9.1`."""
    findings = list(findings)
    every = [factor for finding in findings for factor in _factors(finding, shown)]
    factors = list(filter(None, every))
    if all(abs(number - 1) < SAME for number in factors):
        return ""
    some = "" if len(factors) == len(every) else ", where it is known"
    if all(finding["where"] for finding in findings):
        if min(factors) > 1 - SAME:
            fast = wording.ratio_range([max(factor, 1.0) for factor in factors])
            return f"{fast} times as fast as without it{some}"
        if max(factors) < 1 + SAME:
            slow = wording.ratio_range([1 / min(factor, 1.0) for factor in factors])
            return f"{slow} times as slow as without it{some}"
    return f"by a factor of {wording.ratio_range(factors)}{some}"


def _factors(finding: Finding, shown: set[str] | None) -> list[float | None]:
    by_point = finding.get("factors") or {}
    own = [factor for point, factor in by_point.items() if shown is None or point in shown]
    return own or [finding["factor"]]


def place_name(paper: Paper, where: str) -> str:
    """What a page calls a place of a finding: a point, or a trial, by its name."""
    for experiment in paper["experiments"].values():
        for row in experiment["trials"]:
            if trial_place(row) == where:
                return str(row["name"])
    return wording.point_name(paper, where)


def trial_place(row: dict[str, Any]) -> str:
    """What a finding calls a trial."""
    return str(row.get("place", ""))


def _by(text: str) -> str:
    if not text:
        return ""
    return f", {text}" if text.startswith("by ") else f": {text}"


def first_sentence(text: str) -> str:
    """The first sentence of an explanation."""
    return _SENTENCE.split(text.strip(), maxsplit=1)[0]


def counts_by_effect(paper: Paper) -> dict[str, int]:
    """Findings by effect, the gravest first, zeros included."""
    effects = [finding["effect"] for finding in paper.get("findings", [])]
    return {effect: effects.count(effect) for effect in LETTERS}


def evidence_value(item: dict[str, Any]) -> str:
    """A row of evidence with its unit: `8,192 blocks`; a dash where nothing was seen."""
    seen, unit = item["value"], item.get("unit") or ""
    if seen is None:
        return number_format.NONE
    if isinstance(seen, bool):
        return "yes" if seen else "no"
    if isinstance(seen, list | tuple):
        return number_format.listed([str(part) for part in seen]) or "none"
    if isinstance(seen, int | float):
        whole = float(seen).is_integer() and abs(seen) < 1e15
        seen = number_format.count(seen) if whole else f"{seen:.4g}"
    return f"{seen} {unit}" if unit not in ("", "1") else str(seen)

"""Figures in sentences that say with how many threads, cores or processes they were made, or where
these were bound: `with 64 threads 3700 H/s`, `pinned to one CPU (numactl ...): 8 t/s`.

They are read where nothing else was recognised, and only where a text has two of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.text.grammar import LONG_UNIT, NUMBER, unit_of

TOOL = "text"
LOOKS_FOR = "sentences with figures by threads or placement: `with 8 threads 31 GB/s`"
_FIGURE = late(
    rf"(?<![\w.,/:+<>≤≥-])~?(?P<value>{NUMBER}) ?"
    rf"(?P<unit>{LONG_UNIT})(?![\w/])"
    r"(?P<each> (?:per|each|for each)\b)?"
)
_NUMBERS = {
    "one": 1, "a single": 1, "single": 1, "two": 2, "four": 4, "six": 6, "eight": 8, "twelve": 12,
    "sixteen": 16, "both": 2,
}  # fmt: skip
_COUNT = late(
    rf"\b(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)}) (?:OpenMP |MPI |CPU |physical |hardware )?"
    r"(?P<what>threads?|cores?|processes|process|ranks|workers)\b(?!/)",
    re.I,
)
_PLACED = late(
    r"(?P<words>`?numactl(?: -{1,2}[\w=,:-]+(?: \d[\d,-]*)?)+|\btaskset -c \S+|OMP_PROC_BIND=\w+"
    r"|(?:pinned|bound|restricted) to (?:one|a single|1|the same|its own)[\w -]{0,12}"
    r"(?:CPU|socket|node|core|NUMA node)s?|one per (?:physical )?(?:CPU|socket|(?:NUMA )?node))",
    re.I,
)
# Lines of a program that names its figures and tells the count before them.
_BETWEEN_PARTS = late(r"\s+(?:\||-{1,2}|–|/)\s+|[,;]\s+")
_COUNT_ALONE = late(
    r"(?P<count>\d{1,4}) (?P<what>threads?|cores?|processes|process|workers?)", re.I
)
_COUNT_BEHIND = late(
    r"(?:MPI |OpenMP |OMP )?(?P<what>threads?|cores?|process(?:es)?|ranks?)[ =:]{1,3}"
    r"(?P<count>\d{1,4})",
    re.I,
)
_NAMED = late(
    r"(?P<name>[A-Za-z][\w ]{1,40}?[:=]?) {1,4}"
    rf"(?P<value>{NUMBER}) ?(?P<unit>{LONG_UNIT})"
)
_SENTENCE = late(r"(?<=[.!?;])\s+")
_KINDS = {"thread": "threads", "core": "threads", "worker": "threads"}
_LONGEST, _MOST = 1500, 100  # characters of a line; figures


def read(log: Log) -> list[Report]:
    """One report of all such figures; none where there is one alone."""
    results: list[Result] = []
    for line in log.with_figures(_figures):
        results += _figures(log, line)
        if len(results) >= _MOST:
            break
    told = [own for own in results if own.of]
    return [Report(TOOL, results, results[0].line)] if told and len(results) > 1 else []


def _named_parts(text: str) -> list[tuple[str, re.Match[str], dict[str, Any]]]:
    """The parts of `8 threads | run 1/3 | token time 21.3 ms - eval time 9.9 s`: name and figure of
    each, with the count of all; none where it is not such a line."""
    if not any(mark in text for mark in "|-–/,;"):
        return []
    first, *others = [part.strip() for part in _BETWEEN_PARTS.split(text)]
    if not others:
        return []
    if counts := [own for part in (first, *others) if (own := _COUNT_BEHIND.fullmatch(part))]:
        of_all = {
            _KINDS.get(own["what"].lower().removesuffix("s"), "processes"): int(own["count"])
            for own in counts
        }
        named = [found for part in others if (found := _NAMED.fullmatch(part))]
        return [(own["name"].rstrip(" :="), own, of_all) for own in named]
    if (count := _COUNT_ALONE.fullmatch(first)) is None:
        return []
    kind = _KINDS.get(count["what"].lower().removesuffix("s"), "processes")
    named = [found for part in others if (found := _NAMED.fullmatch(part))]
    of = {kind: int(count["count"])}
    return [(own["name"].rstrip(" :="), own, of) for own in named]


def _figures(log: Log, line: Line) -> Iterator[Result]:
    """The figures of a line: each with a name of its own, or a sentence at a time."""
    if len(line.text) > _LONGEST:
        return
    if parts := _named_parts(line.text):
        for name, part, counted in parts:
            if (value := log.number(part["value"])) is not None:
                yield Result(name, value, unit_of(part["unit"]), line.number, "", dict(counted))
        return
    for sentence in _SENTENCE.split(line.text):
        found = [own for own in _FIGURE.finditer(sentence) if not own["each"]]
        if len(found) > 1:
            yield from _in_turns(log, line, sentence, found)
        if len(found) != 1:
            continue  # of several nobody knows which count is whose
        value = log.number(found[0]["value"])
        if value is None:
            continue
        of: dict[str, Any] = {}
        counts = [own for own in _COUNT.finditer(sentence) if own.end() <= found[0].start()]
        if len(counts) == 1:
            what = counts[0]["what"].lower()
            kind = next((own for word, own in _KINDS.items() if what.startswith(word)), "processes")
            digits = counts[0]["count"].lower()
            of[kind] = int(digits) if digits.isdecimal() else _NUMBERS[digits]
        if placed := [own["words"].strip("`") for own in _PLACED.finditer(sentence)]:
            of["placement"] = max(placed, key=lambda words: ("=" in words, len(words)))
        yield Result("figure", value, unit_of(found[0]["unit"]), line.number, "", of)


def _in_turns(log: Log, line: Line, sentence: str, found: list[re.Match[str]]) -> Iterator[Result]:
    """The figures of a sentence in which numbers of threads and figures come in turns: `with 2
    threads 6.4 s, with 4 threads 6.2 s`."""
    counts = list(_COUNT.finditer(sentence))
    ordered = sorted([*counts, *found], key=lambda own: own.start())
    are_alike = len({own["unit"] for own in found}) == 1 and len(counts) == len(found)
    if not are_alike or any((own in counts) != (at % 2 == 0) for at, own in enumerate(ordered)):
        return
    for count, figure in zip(counts, found, strict=True):
        what, digits = count["what"].lower(), count["count"].lower()
        kind = next((own for word, own in _KINDS.items() if what.startswith(word)), "processes")
        number = int(digits) if digits.isdecimal() else _NUMBERS[digits]
        if (value := log.number(figure["value"])) is not None:
            yield Result("figure", value, unit_of(figure["unit"]), line.number, "", {kind: number})

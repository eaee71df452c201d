"""Notes on figures whose names come in pairs: they differ in one word (`base.latency`,
`patch.latency`), or one of them has a word more (`stream`, `stream_router`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import GIVEN, grouped
from benchbook.explain.rules import rule

_BETWEEN = late(r"[\W_]+")
_A_WORD = late(r"[^\W\d_][^\W_]+")
# Words that name what is measured, and no side of it.
_NO_SIDE = late(
    r"(?i)(?:read|write|rx|tx|recv|sent|send|received?|up|down|upload|download|min|max|avg|average|"
    r"mean|median|std\w*|stdev|total|sum|user|sys|system|real|wall|cpu|gpu|elapsed|copy|scale|add|"
    r"triad|get|set|insert|update|delete|select|encode|decode|compress\w*|decompress\w*|load|store|"
    r"encrypt\w*|decrypt\w*|seq\w*|rand\w*|p\d+|first|last|start|end|forward|backward|push|pop|"
    r"minimum|maximum|time|rate|latency|throughput|bandwidth|count|size|train\w*|eval\w*|prefill|"
    r"[hd](?:2|to)[hd]|in|out)"
)
LEAST_PAIRS, MOST_NAMES, APART = 2, 60, 1.25


class _Pair(NamedTuple):
    """Two figures whose names differ in one word."""

    lower: Result
    upper: Result


@rule
def names_with_another_word(report: Report) -> Iterator[str]:
    """A note on names that come in pairs, which differ in one word.

    Only where these two words alone make such pairs: of several nobody knows which are sides.
    """
    if report.tool != "figures":
        return
    pairs: dict[tuple[str, str], list[_Pair]] = {}
    of_names: dict[tuple[str, str], set[Sequence[str]]] = {}
    for figures in grouped(report.results, lambda own: (own.unit, own.statistic)).values():
        named = {
            tuple(_BETWEEN.split(str(own.of.get("label") or own.name))): own
            for own in figures
            if own.is_positive and own.statistic != GIVEN
        }
        if len(named) > MOST_NAMES or len(named) != len(figures):
            return
        for (first, before), (second, after) in combinations(named.items(), 2):
            if words := _only_difference(first, second):
                in_order = words == tuple(sorted(words))
                pair = _Pair(before, after) if in_order else _Pair(after, before)
                pairs.setdefault((min(words), max(words)), []).append(pair)
                of_names.setdefault((min(words), max(words)), set()).add(min(first, second))
    if len(pairs) != 1:
        return
    (low, high), several = next(iter(pairs.items()))
    if len(of_names[low, high]) < LEAST_PAIRS:
        return  # one pair of names, with several figures each, may be two things
    ratios = [pair.lower.base_value / pair.upper.base_value for pair in several]
    at = max(range(len(ratios)), key=lambda place: max(ratios[place], 1 / ratios[place]))
    times = max(ratios[at], 1 / ratios[at])
    if len(several) >= LEAST_PAIRS and times >= APART:
        lower, upper = several[at]
        yield (
            f"line {lower.line}: {len(several)} figures are there for “{low}” and for “{high}”. "
            f"Farthest apart are {lower.value:,.6g} {lower.unit} and {upper.value:,.6g} "
            f"{upper.unit} (line {upper.line}), {times:,.3g} times"
        )


def _only_difference(first: Sequence[str], second: Sequence[str]) -> tuple[str, str] | None:
    if len(first) != len(second) or len(first) < 2:
        return None
    differ = [words for words in zip(first, second, strict=True) if words[0] != words[1]]
    if len(differ) != 1:
        return None
    are_words = all(_A_WORD.fullmatch(word) and not _NO_SIDE.fullmatch(word) for word in differ[0])
    return differ[0] if are_words else None


SMALL, LEAST_NAME, MOST_FIGURES = 1.05, 4, 80
_JOINTS = ("_", "-", "/", ".")


@rule
def names_with_one_word_more(report: Report) -> Iterator[str]:
    """A note on pairs of names of which one has a word more at its end (`stream`,
    `stream_router`): what that word makes of the figure."""
    if report.tool not in ("figures", "table"):
        return
    for figures in grouped(report.results, lambda own: (own.unit, own.statistic)).values():
        named = {_called(own): own for own in figures if own.is_positive}
        if len(named) != len(figures) or len(figures) > MOST_FIGURES:
            continue
        pairs: dict[str, list[tuple[Result, Result]]] = {}
        for long, own in named.items():
            for joint in _JOINTS:
                short, mark, word = long.rpartition(joint)
                is_pair = mark and len(short) >= LEAST_NAME and short in named
                if is_pair and word.isalpha():
                    pairs.setdefault(joint + word, []).append((named[short], own))
        if len(pairs) != 1:
            continue
        word, several = next(iter(pairs.items()))
        ratios = [after.value / before.value for before, after in several]
        if len(several) < LEAST_PAIRS or max(*ratios, 1 / min(ratios)) < SMALL:
            continue
        far = max(range(len(ratios)), key=lambda at: max(ratios[at], 1 / ratios[at]))
        before, after = several[far]
        yield (
            f"line {after.line}: with “{word}” a figure is {min(ratios):.3g} to {max(ratios):.3g} "
            f"times what it is without ({len(several)} pairs). Farthest apart are "
            f"{after.value:,.6g} and {before.value:,.6g} {before.unit} (line {before.line})"
        )


def _called(own: Result) -> str:
    return str(own.of.get("label") or own.name)

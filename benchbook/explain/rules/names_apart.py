"""Notes on figures whose names differ in one word (`base.latency`, `patch.latency`), and on rates
that are just what an option asked for."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Report, Result
from benchbook.explain.readers.common.command_lines import option
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
    r"minimum|maximum|time|rate|latency|throughput|bandwidth|count|size|train\w*|eval\w*|prefill)"
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
    if len(pairs) != 1:
        return
    (low, high), several = next(iter(pairs.items()))
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


# By tool, the options that limit a rate, with how many of their unit are a bit a second.
_LIMITS = {
    "iperf3": {"-b": 1.0, "--bitrate": 1.0, "--bandwidth": 1.0, "--fq-rate": 1.0},
    "iperf": {"-b": 1.0, "--bandwidth": 1.0},
    "rsync": {"--bwlimit": 8192.0},  # KiB where no unit is given
    "scp": {"-l": 1000.0},
}
_ASKED = late(r"(\d{1,12}(?:\.\d{1,6})?)([kKmMgG]?)[bB]?(?:its?)?(?:/\d+)?")
_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
AS_ASKED, LEAST_RATES = (0.85, 1.05), 3


@rule
def limited_as_asked(report: Report) -> Iterator[str]:
    """A note on a transfer over TCP whose rate is the one that an option of its command limits."""
    limits = _LIMITS.get(report.tool)
    if not limits or report.facts.get("protocol") == "udp":
        return
    command = Command(report.line, report.asked)
    for name, bits in limits.items():
        found = _ASKED.fullmatch(option(command, name))
        if found is None or not float(found[1]):
            continue
        size = found[2].lower()
        if report.tool == "rsync":  # its letters are powers of 1024 bytes
            wanted = (
                float(found[1]) * 8 * {"": 1024.0, "k": 1024.0, "m": 2.0**20, "g": 2.0**30}[size]
            )
        else:
            wanted = float(found[1]) * bits * _SIZES[size]
        rate = _rate(report)
        streams = report.facts.get("streams") or 1
        if rate is None or streams != 1:
            return
        value, line = rate
        if AS_ASKED[0] <= 8 * value / wanted <= AS_ASKED[1]:
            yield (
                f"line {line}: about {8 * value / wanted:.0%} of the rate that {name} "
                f"{found[0]} allows came out. So that option holds the rate, and the path may "
                "carry more"
            )
        return


def _rate(report: Report) -> tuple[float, int] | None:
    """Bytes a second of the whole, or of a typical interval, with the line."""
    named = [own for own in report.results if own.rate and own.is_positive]
    whole = [own for own in named if own.statistic in ("total", "mean", "")]
    if whole:
        return whole[-1].rate or 0.0, whole[-1].line
    parts = [own for own in named if own.statistic == "interval"]
    if len(parts) < LEAST_RATES:
        return None
    middle = statistics.median(own.rate or 0.0 for own in parts)
    return middle, min(parts, key=lambda own: abs((own.rate or 0.0) - middle)).line

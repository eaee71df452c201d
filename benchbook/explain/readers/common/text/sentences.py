"""Figures with units out of any text, each with the words next to it: the last resort, for prose
and for tools that nobody knows.

What sentences only set or promise (a timeout, a link's speed) is no figure of a run, and a text
with nothing else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain import source_code
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.text.grammar import (
    CLOCK,
    MANY,
    NUMBER,
    UNIT,
    in_seconds,
    times_of,
    unit_of,
)
from benchbook.explain.readers.common.text.named import pairs_of
from benchbook.explain.results import GIVEN

TOOL = "text"
LOOKS_FOR = "any other text in which measured figures stand with their units: `it read 1.2 GB/s`"
NOTE = (
    "This was not recognised as the output of a known tool. The figures with units are shown as "
    "they stand in the text."
)
_TIMES = ("ns", "us", "ms", "s", "min")
_SIZES = {"bytes": "B", "KB": "kB"} | {
    f"{prefix}{unit}": f"{prefix}{unit}"
    for prefix in "kKMGT"
    for unit in ("B", "iB")
    if f"{prefix}{unit}" not in ("KB", "kiB")
}
_ANY_SIZE = "|".join(_SIZES)
_FIGURE = late(
    rf"(?<![\w.,/:^±-])(?:(?P<low>\d{{1,6}}(?:\.\d{{1,6}})?) ?[-\u2013] ?)?(?P<value>{NUMBER})"
    rf"(?P<many>{MANY})? ?"
    rf"(?P<unit>{UNIT}|%|[x×](?= |$|[,;.)])|{_ANY_SIZE})(?![\w/^(]|-[a-z])"
)
# Shares and ratios, which are shown where the sentence says that something changed, or of what.
_SHARES = {"%": "%", "x": "times", "×": "times"}
_OTHERS = _SHARES | _SIZES
_OF_MEMORY = late(
    r"(?i)\b(?:rss|heap|peak(?:s|ed)?|footprint|usage|used|uses|using|consum\w*|allocat\w*)\b"
)
_OF_SHARE = late(
    r"(?i)\b(?:fast|slow|improv|reduc|degrad|regress|increas|decreas|dropp?|overhead|gain|loss|lost"
    r"|better|worse|hike|speed-?up|lower|higher|utili[sz]|usage|busy|idle|hit|miss|effic|peak"
    r"|benefit|penalty|boost|throughput|latency)"
)
# What sentences set, wait for, or tell the age of.
_SET = late(
    r"(?i)\b(?:time-?out|interval|delay|ttl|every|each|after|within|wait(?:s|ing|ed)?|sleep(?:s"
    r"|ing)?"
    r"|old|ago|later|retry|retries|retention|period|threshold|limit(?:ed)? to|expires?|uptime"
    r"|last|next|first|for the|warm-?up|ramp|poll(?:s|ing)?|refresh|window|grace|duration"
    r"|for)\W{1,3}$"
)
_SET_WORDS = late(
    r"(?i)\b(?:time-?out|interval|ttl|retention|expires?|expiry|keep-?alive|sleep|cron|poll(?:s"
    r"|ing)?"
    r"|warm-?up time|granularity)\b"
)
_SET_BEHIND = late(
    r"(?i)^[ -]?(?:ago|later|old|time-?out|delay|interval|window|sleep|wait|warm-?up)\b"
)
# What is possible at most, by the words of the sentence.
_MOST_BEFORE = late(
    r"(?i)\b(?:theoretical(?:ly)?|peak|max(?:imum)?|at most|up to|rated(?: at| for)?|limit(?: of"
    r"| is)?"
    r"|spec(?:ified|s)?|capable of|supposed to|should|advertised|expected|nominal|ideal"
    r"|line rate|link speed)\b[^.;:,]{0,40}$"
)
_MOST_BEHIND = late(
    r"(?i)^ ?(?:\(?theoretical|\(?peak|\(?max(?:imum)?\b|link\b|line rate|port\b|NIC\b|card\b)"
)
# `instructions: 314622 cycles: 83223`, `b=4 s=8192`: what follows the number is the next name.
_NEXT_NAME = late(r"[:=] {0,20}-?\d")
_LONGEST_TIME = late(r"(?i)\W*(?:max|peak)")
_POSSIBLE = "possible"  # the name of such a figure
# Words of a measurement, without which a time is one of anything.
_MEASURED = late(
    r"(?i)\b(?:took|takes?|taking|measur\w*|benchmark\w*|latenc\w*|throughput|bandwidth|elapsed"
    r"|averag\w*|avg|mean|median|percentile|p\d\d(?:\.\d+)?|runtime|run time|execution time"
    r"|fast(?:er)?|slow(?:er|ed|s)?|speed(?:up|-up)?s?|overhead|per (?:op\w*|iteration|call"
    r"|request)"
    r"|perform\w*|finish(?:es|ed)|complet(?:es|ed)|achiev\w*|reach(?:es|ed)|gets?|got|getting|see"
    r"|saw"
    r"|observ\w*|drop(?:s|ped)|results?|scores?|real|total|min|max|stddev|improv\w*|regress\w*"
    r"|rate|time|execution|wall|only|about|around|instead of|down to|reduc\w*|increas\w*)\b"
)
# A limit of what was measured, and no figure of it.
_BOUNDS = {
    "<": "less than", "≤": "at most", "<=": "at most", ">": "more than", "≥": "at least",
    ">=": "at least", "less than": "less than", "more than": "more than", "at least": "at least",
    "at most": "at most", "below": "less than", "above": "more than", "fewer than": "less than",
}  # fmt: skip
_BOUND = late(
    r"(?i)(?:(?<![-=<>\w])(?<!^)(<=?|>=?|[≤≥])|\b(less than|fewer than|more than|at least|at most"
    r"|below|above)) {0,2}$"
)
_CLAUSE = late(r"[.;!?]\s|[,:]\s+|\s+-{1,2}\s+|\s*\|\s*|\t+|\s{2,}")
_SENTENCE = late(r"[.;!?]\s")
_SPACES = late(r"\s+")
_LEAST = 3  # figures that need no word of a measurement, if one is a rate
_LONGEST, _MOST, _MOST_OF_LINE = 4000, 400, 40  # characters of a line; figures
_LONGEST_CODE = 400
_WORDS = 70  # characters next to a figure that are shown


def read(log: Log) -> list[Report]:
    """One report of all such figures of a log."""
    if source_code.is_source(log):
        return []
    results: list[Result] = []
    is_measured = False
    for line in log.with_figures(_of_line):
        if source_code.LINE.search(line.text[:_LONGEST_CODE]):
            continue  # it says what a program does, not what was measured
        own = list(_of_line(log, line))
        results += own
        is_measured = is_measured or _says_measured(line.text, own)
        if len(results) >= _MOST:
            break
    measured = list(filter(_is_measured, results))
    has_rate = any(own.unit not in _TIMES for own in measured)
    if not is_measured and not (has_rate and len(measured) >= _LEAST):
        return []
    return [Report(TOOL, results, results[0].line, notes=[NOTE])]


def _is_measured(result: Result) -> bool:
    """Whether it may be a figure of a run, and no share, size, or what is possible."""
    return result.name != _POSSIBLE and result.unit not in _OTHERS.values()


def _says_measured(text: str, own: Sequence[Result]) -> bool:
    """Whether a line gives a figure of something that was measured: a rate, or a time with a word
    that says so. What is said to be possible was not measured."""
    figures = [result for result in own if _is_measured(result)]
    has_rate = any(result.unit not in _TIMES for result in figures)
    return bool(figures and ((has_rate and len(figures) > 1) or _MEASURED.search(text)))


def _of_line(log: Log, line: Line) -> Iterator[Result]:
    """The figures of a line, one sentence after the other."""
    if len(line.text) > _LONGEST:
        return
    begin = 0
    ends = [own.end() for own in _SENTENCE.finditer(line.text)]
    for end in [*ends, len(line.text)]:
        sentence = Line(line.number, line.text[begin:end])
        pairs = list(pairs_of(log, sentence, sentence.text, 1)) if "=" in sentence.text else []
        yield from pairs or _figures(log, sentence)
        begin = end


def _seconds(clock: re.Match[str]) -> str:
    """A time in hours, minutes and seconds as one in seconds; `12:30` is left: most likely a time
    of day."""
    return clock[0] if clock["minutes"] else in_seconds(clock)


def _single(found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The figures without times in two units, `5 s 870 ms`, of which each is a part."""
    parts = set[int]()
    for at, (first, second) in enumerate(pairwise(found)):
        are_times = all(
            own["unit"] not in _OTHERS and unit_of(own["unit"]) in _TIMES for own in (first, second)
        )
        if are_times and second.start() - first.end() <= 1:
            parts |= {at, at + 1}
    return [own for at, own in enumerate(found) if at not in parts]


def _is_shown(figure: re.Match[str]) -> bool:
    """Whether the words around a share or a size say what it is of."""
    text, unit = figure.string, figure["unit"]
    if unit in _SIZES:
        begin, end = figure.span()
        return bool(_OF_MEMORY.search(text[max(0, begin - _WORDS) : begin] + text[end:][:_WORDS]))
    return unit not in _SHARES or bool(_OF_SHARE.search(text))


def _figures(log: Log, line: Line) -> Iterator[Result]:
    """The figures of a sentence, but those that it only sets."""
    text = CLOCK.sub(_seconds, line.text)
    every = list(_FIGURE.finditer(text))[:_MOST_OF_LINE]
    found = _single([own for own in every if _is_shown(own)])
    for number, figure in enumerate(found):
        begin = found[number - 1].end() if number else 0
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        before, behind = text[begin : figure.start()], text[figure.end() : end]
        if before.rstrip().endswith(("±", "+-", "+/-")) or _NEXT_NAME.match(behind):
            continue  # a deviation, of the figure before it; `b=4 s=8192`
        clause = _SENTENCE.split(before)[-1]
        unit = _OTHERS.get(figure["unit"]) or unit_of(figure["unit"])
        if unit in _TIMES and (
            _SET.search(clause) or _SET_WORDS.search(clause) or _SET_BEHIND.match(behind)
        ):
            continue
        value = log.number(figure["value"])
        if value is None:
            continue
        times = times_of(figure["many"])
        of: dict[str, Any] = {}
        if words := _near(before, figure[0], behind):
            of["label"] = words
        is_size = figure["unit"] in _SIZES  # of which a peak was reached
        most = _MOST_BEFORE.search(clause) or _MOST_BEHIND.match(behind)
        is_longest = most and unit in _TIMES and _LONGEST_TIME.match(most[0])  # of those measured
        is_change = unit == "%"  # `falls by up to 15 %`
        is_possible = most and not (is_size or is_longest or is_change)
        name = _POSSIBLE if is_possible else _bound(before) or "figure"
        low = log.number(figure["low"]) if figure["low"] else None
        for number_of_range in (low, value):
            if number_of_range is not None:
                yield Result(name, number_of_range * times, unit, line.number, GIVEN, of)


def _bound(before: str) -> str:
    """What a figure that is only a limit (`<1 %`, `less than 5 ms`) is called; "" for others."""
    found = _BOUND.search(before)
    return _BOUNDS[(found[1] or found[2]).lower()] if found else ""


def _near(before: str, figure: str, behind: str) -> str:
    """The words next to a figure: those before it in its clause, and a few behind."""
    left = _CLAUSE.split(before.rstrip(" ~≈<>≤≥(="))[-1]
    left = left or next((part for part in reversed(_CLAUSE.split(before)) if part.strip()), "")
    right = _CLAUSE.split(behind)[0] if behind[:1] in (" ", ")") else ""
    words = (
        f"{left.strip(_EDGES)} … {right.strip(_EDGES)}"
        if right.strip(_EDGES)
        else left.strip(_EDGES)
    )
    words = _SPACES.sub(" ", words).strip()
    if len(words) <= _WORDS:
        return words.removeprefix("… ")
    head, _, tail = words.rpartition(" … ")
    room = max(10, _WORDS - min(len(tail), _WORDS // 3) - 3)
    head, tail = head or tail, tail if head else ""
    short = head[-room:].partition(" ")[2] or head[-room:] if len(head) > room else head
    return f"{short} … {tail[: _WORDS // 3]}".rstrip(" …") if tail else short


_EDGES = " \t*_`\"'()[]{}<>|,;:=~≈-–—#>"

"""Lines of a log with figures that nobody read: they are quoted as they stand, so that what a
reader does not know is not lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from re import Pattern
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report
from benchbook.explain.printed_digits import is_number

_MOST_LINES = 3000  # of a log: of longer ones nobody reads what is left
_MOST = 8  # lines that are quoted
_MOST_OF_KIND = 3  # of one shape, from which on they are a table, and of it one is quoted
_NEAR = 25  # lines from the next figure that was read
_LONGEST = 240  # characters
_FEW_WORDS, _WORDS_A_FIGURE = 7, 4  # a sentence has more of them
_FEW_WORDS_OF_PROGRAMS = 12  # where a program marks what follows
_FEW_WORDS_OF_SENTENCES = 25
_PARTLY, _LONG = ("text", "figures", "lines alike"), 3  # digits
_MOST_OF_FAILURES = 12  # lines that are quoted next to one
_MARKED = late(r"\w[:=] ?\S")
# What is no figure: dates of all kinds, times of day, addresses, processes, names with digits.
_NO_FIGURES = (
    r"\b[A-Z][a-z]{2} +\d\d? (?:\d\d:\d\d:\d\d )?\d{4}\b|\b\d\d? [A-Z][a-z]{2} \d{4}\b|"
    r"\b\d{4}[-/]\d\d?[-/]\d\d?\b|\b\d\d?[-/.]\d\d?[-/.]\d{2,4}\b|"
    r"\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b|"
    r"\b[\da-f]{1,4}(?::[\da-f]{0,4}){3,}|\b0x[\da-fA-F]+|"
    r"^\W*50(?:\.0+)?%|\b100(?:\.0+)? ?%|"  # the median, and all
    r"1,?000,?000 [Bb]ytes|10\^\d|\b10+s\b|\bCompleted \d+ requests|"  # what a unit means; progress
    r"(?i:\b(?:pid|tid|port|uid|gid)[ =:#]+\d+|\bline \d+)|"
    r"\[ ?\+?[\d.:,]+\]|\w\(\d+\)|==\d+==|\b\d+-\d+(?:,\d+-\d+)+|"
    r"[\w./-]+\.(?:cc?|cpp|cu|py|[sS]|h|hpp|f90|go|rs|java):\d+|"
    r"(?:^|(?<=\s))(?:[/~]|\.{1,2}/)[\w./-]+|\w+://\S+"
)
# Next to a failure people look for these: versions, places on PCI, numbers of errors.
_OTHER = late(
    rf"{_NO_FIGURES}|\b\d+(?:\.\d+){{2,}}(?::\d+)?|"
    r"\b[\da-f]{4}:[\da-f]{2,4}(?::[\da-f.]+)?\b|(?<![.,])\b0\d+\b(?![.,]\d)|"  # of PCI, and masks
    r"(?i:\berrno[ =:#]+\d+|\b(?:error|version) \d+)|\b[A-Za-z_]+[\w.-]*\d[\w.:/-]*"
)
_OTHER_OF_FAILURES = late(
    rf"{_NO_FIGURES}|\b(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d+)?\b|"
    r"\b[A-Za-z_]+[\w-]*\d[\w:/-]*(?![\w.-]*\.\d)"
)
_NUMBER = late(r"\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+")
_SAID = late(r"(?:[=:]|\bis\b|\bof\b) *[\[(<>~]{0,2} *$")  # in front of a figure of one digit
# A figure with its unit, of which a sentence may have one.
_WITH_UNIT = late(
    r"\d ?(?:%(?!\w)|[x×](?!\w)|[kKMG]?bits?/s|[KMG]bps\b|[nuµm]?s\b|\w{1,12}/s|IOPS\b)"
)
_WORD = late(r"[^\W\d_]{2,}")
_NOISE = late(
    r"(?P<bar>[^\s\d.])(?P=bar){7}|\[[=#>. -]{8,}\]|\[eta\b|\bETA\b|%\||\bit/s\b"
    r"|\]\s*\||(?i:\bcopyright\b|\bcompiled? (?:date|on)\b|\bbuilt on\b)"
    r"|^\W*(?:diff|index|@@|\+\+\+)\b"
    r"|\bTEST from\b"  # the head of netperf
    # How fio spreads its times and depths.
    r"|^\W*(?:lat \([a-z]{2,5}\)\s*: [\d>]|(?:IO depths|submit|complete|latency)\s+: )"
)
_LEAST_ZEROS = 3  # of a number that is not known by its first digit
_CLASS = late(r"[A-Za-z_]+|\d[\d.,]*|\s+")


@dataclass(frozen=True)
class Unread:
    """A line as it stands, and how many more of its shape are not quoted."""

    line: Line
    more: int = 0


def unread(
    log: Log, reports: Sequence[Report], said: Iterable[str], *, has_failed: bool = False
) -> list[Unread]:
    """The lines next to what was read whose figures are in no result, setting or sentence, in
    their order. `said`: the sentences of findings and notes. `has_failed`: whether the run did, so
    that versions, places and numbers of errors count as figures."""
    if len(log.lines) > _MOST_LINES or not reports:
        return []
    known = _known(reports, said)
    other = _OTHER_OF_FAILURES if has_failed else _OTHER
    taken = {command.number for command in log.commands}
    taken |= {line.number for document in log.documents for line in document.lines}
    read = sorted({result.line for report in reports for result in report.results})
    of_results = set(read)
    # Of what no program's reader knows, a line may have more figures than those with units.
    partly = {own.line for report in reports if report.tool in _PARTLY for own in report.results}
    near = read or sorted(report.line for report in reports)
    lines = [
        line
        for line in log.lines
        if line.number not in taken
        and (line.number not in of_results or line.number in partly)
        and _distance(near, line.number) <= _NEAR
        and _is_of_figures(line.text, other)
        and _is_left(_digits(line.text, other) - known, line.number in partly)
    ]
    shapes: dict[str, list[Line]] = {}
    for line in lines:
        shapes.setdefault(_shape(line.text), []).append(line)
    kept: list[Unread] = []
    for several in shapes.values():
        if len(several) <= (_MOST if several[0].number in partly else _MOST_OF_KIND):
            kept += map(Unread, several)
        else:
            kept.append(Unread(several[-1], len(several) - 1))  # of what goes on, how far it came
    kept.sort(key=lambda own: _distance(near, own.line.number))
    most = _MOST_OF_FAILURES if has_failed else _MOST
    return sorted(kept[:most], key=lambda own: own.line.number)


def _is_left(digits: frozenset[str], is_partly: bool) -> bool:
    """Whether figures of a line are shown nowhere; of one that was read, only what is long."""
    return any(len(own) >= _LONG for own in digits) if is_partly else bool(digits)


def _known(reports: Sequence[Report], said: Iterable[str]) -> frozenset[str]:
    """The digits of all that was read."""
    digits = {"0"}
    for report in reports:
        digits.update(digits for own in report.results for digits in _forms(f"{own.value:.12g}"))
        for name, statistic, _ in report.groups:
            digits.update(_of_settings((name, statistic)))
        for settings in [report.facts, *report.settings]:
            digits.update(_of_settings(settings.values()))
        digits.update(_of_settings([report.version, *report.asked]))
    for text in said:
        digits |= _digits(text, _OTHER)
    return frozenset(digits)


def _of_settings(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, dict):
            yield from _of_settings(value.values())
        elif is_number(value):
            yield from _forms(f"{value:.12g}")
            if value > 0 and value == int(value):  # as a size in words
                yield _significant(format_bytes(int(value)).partition(" ")[0])
        elif isinstance(value, str):
            for number in _NUMBER.findall(value):
                yield from _forms(number)


def _digits(text: str, other: Pattern[str]) -> frozenset[str]:
    """The digits of the figures of a text that are worth to be shown; `other`: what is none."""
    plain = other.sub(" ", text)
    found = set()
    for number in _NUMBER.finditer(plain):
        own = _forms(number[0])[-1]
        if len(number[0]) > 1 or _SAID.search(plain, 0, number.start()):
            found.add(own)
    return frozenset(found)


def _forms(number: str) -> tuple[str, ...]:
    """Its digits, and itself where it has one digit and zeros: 10,000 is not known by a 1."""
    digits, plain = _significant(number), number.replace(",", "")
    is_round = len(digits) == 1 and len(plain) > _LEAST_ZEROS and plain.isdecimal()
    return (digits, plain) if is_round else (digits,)


def _significant(number: str) -> str:
    """Its digits without a point, a power and zeros at both ends: 7.10k is 7,100."""
    mantissa = number.replace(",", "").lower().partition("e")[0]
    return mantissa.replace(".", "").lstrip("-").strip("0") or "0"


def _is_of_figures(text: str, other: Pattern[str]) -> bool:
    """Whether a line is of a program's figures, and no sentence, bar or command."""
    if not text.strip() or len(text) > _LONGEST or _NOISE.search(text):
        return False
    words, figures = len(_WORD.findall(text)), len(_digits(text, other))
    few = _FEW_WORDS_OF_PROGRAMS if _MARKED.search(text) else _FEW_WORDS
    few = _FEW_WORDS_OF_SENTENCES if _WITH_UNIT.search(text) else few
    return bool(figures) and words <= max(few, _WORDS_A_FIGURE * figures)


def _shape(text: str) -> str:
    """A line with one mark for each word and number: rows of one table are alike."""
    marks = (_mark(own[0]) for own in _CLASS.finditer(text.strip()))
    return "".join(mark for mark, _ in groupby(marks))


def _mark(part: str) -> str:
    return "0" if part[0].isdecimal() else " " if part.isspace() else "a"


def _distance(places: Sequence[int], line: int) -> int:
    at = bisect_left(places, line)
    return min(abs(place - line) for place in places[max(0, at - 1) : at + 1])

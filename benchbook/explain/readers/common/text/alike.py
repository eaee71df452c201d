"""Lines that are alike but for their numbers, each with a figure and its unit: `time 794 ms rate
1259445`, `ran model in 17725.62 ms`, `frame 12 took 16.7 ms`.

They are read where nothing else was recognised. Where all other numbers stay or count on, the
figures are samples of one thing. Otherwise nobody knows what the lines are of, and they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from benchbook.explain import source_code
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.table_columns import counted
from benchbook.explain.readers.common.text.grammar import UNIT, unit_of
from benchbook.explain.results import GIVEN

TOOL = "lines alike"
LOOKS_FOR = "four lines and more that differ by their numbers, with a unit: `time 794 ms rate 1259`"
_NUMBER = late(
    r"(?<![\w.,:/-])(?P<value>-?\d[\d,]{0,20}(?:\.\d{1,18})?(?:[eE][-+]?\d{1,3})?)"
    rf"(?: ?(?P<unit>{UNIT})(?![\w/]))?(?![\w:/-])"
)
_SIZE = late(r"[kKMGT]?i?B")
_PADDED = late(r" +(?=[:=|])|(?<=[:=|]) +")  # `np=8  :` and `np=16 :`
_DIGITS = late(r"\d+(?:[.,:]\d+)*")
_NAME = late(r"(?P<name>[^\W\d_][\w.-]*(?: [\w.-]+){0,2}) ?[:=(@]{0,2} ?$")
_OF_RATE = late(r"(?i)\b(?:rate|speed|ops|throughput|fps|loss|acc\w*)\W*$")
_OF_CLOCK = late(r"(?i)elapsed|total|\bat\b|\bETA\b|since|remaining|uptime|\bt ?=")
_NAMED_DECIMAL = late(
    r"(?i)\b(?:time|elapsed|latency|rate|speed|score|throughput|took|duration)\b ?[:=] *\d+\.\d"
    r"|\b(?:rss|memory|heap): *\d"
)
_BEHIND = late(r"(?<=[\d)\]])\s+(?P<words>[A-Za-z_][\w -]*)$")
_PLAIN = late(r"(?<![\w.])(?P<value>\d[\d,]{0,20}(?:\.\d{1,18})?)(?P<size>[kKMG]i?B)?(?![\w:/])")
_LEAST, _NEAR, _LONGEST, _MOST = 4, 6, 300, 2000


class _Row(NamedTuple):
    """A line and its numbers, each with the name before it and its unit."""

    line: int
    numbers: tuple[tuple[str, float, str], ...]


def read(log: Log) -> list[Report]:
    """One report for each kind of lines; none of source code."""
    if source_code.is_source(log):
        return []
    kinds: dict[str, list[_Row]] = {}
    for line in islice(log.printed_lines(), _MOST):
        text = line.text.strip()
        if len(text) > _LONGEST or not any(map(str.isdigit, text)):
            continue
        numbers = tuple(_numbers(log, text))
        if any(unit for _, _, unit in numbers):
            rows = kinds.setdefault(_PADDED.sub(" ", _DIGITS.sub("#", text)), [])
            if not rows or line.number - rows[-1].line <= _NEAR:
                rows.append(_Row(line.number, numbers))
    found = [list(_figures(rows)) for rows in kinds.values() if len(rows) >= _LEAST]
    return [Report(TOOL, results, results[0].line) for results in found if results]


def without_units(log: Log) -> list[Report]:
    """Lines alike but for their numbers and the words behind them, with a decimal number whose name
    is one of speed and no unit: shown as they stand, for nobody knows what they count."""
    if source_code.is_source(log):
        return []
    kinds: dict[str, list[Line]] = {}
    for line in islice(log.printed_lines(), _MOST):
        is_named = len(line.text) <= _LONGEST and _NAMED_DECIMAL.search(line.text)
        if is_named and not any(found["unit"] for found in _NUMBER.finditer(line.text)):
            shape = _DIGITS.sub("#", _BEHIND.sub("", line.text.strip()))
            kinds.setdefault("".join(shape.split()), []).append(line)
    found = [
        [own for line in lines for own in _as_they_stand(log, line)]
        for lines in kinds.values()
        if len(lines) >= _LEAST
    ]
    return [Report(TOOL, results, results[0].line) for results in found if results]


def _as_they_stand(log: Log, line: Line) -> Iterator[Result]:
    words = _BEHIND.search(line.text.strip())
    of = {"label": words["words"]} if words else {}
    for at, found in enumerate(_PLAIN.finditer(line.text), 1):
        named = _NAME.search(line.text[: found.start()][-60:])
        value = log.number(found["value"])
        if value is not None:
            name = named["name"] if named else ""
            if not name or _SIZE.fullmatch(name):  # the unit of the number before is no name
                name = f"number {at}"
            unit = "%" if line.text.startswith("%", found.end()) else found["size"] or "1"
            yield Result(name, value, unit, line.number, GIVEN, of)


def _numbers(log: Log, text: str) -> Iterator[tuple[str, float, str]]:
    for found in _NUMBER.finditer(text):
        value = log.number(found["value"])
        before = text[: found.start()]
        named = _NAME.search(before[-60:])
        name = named["name"] if named else ""
        name = "" if _OF_RATE.search(before) and not found["unit"] else name
        if value is not None:
            yield (
                name or ("rate" if not found["unit"] else "figure"),
                value,
                unit_of(found["unit"] or ""),
            )


def _figures(rows: Sequence[_Row]) -> Iterator[Result]:
    count = len(rows[0].numbers)
    rows = [row for row in rows if len(row.numbers) == count]
    columns = [[row.numbers[at] for row in rows] for at in range(count)]
    others = [column for column in columns if not column[0][2] and column[0][0] != "rate"]
    is_same = all(_stays(column) for column in others)
    names = [column[0][0] for column in columns]
    for place, row in enumerate(rows):
        varying = [row.numbers[at][1] for at, column in enumerate(columns) if column in others]
        label = " ".join(f"{value:g}" for value in varying)
        count_of = _count_of(others, place)
        for at, (_, value, unit) in enumerate(row.numbers):
            if not unit:
                continue
            name = names[at] if names.count(names[at]) == 1 else f"{names[at]} {at + 1}"
            of: dict[str, Any] = {"benchmark": name, "repetition": place}
            if is_same and not _rises(columns[at]) and not _OF_CLOCK.search(names[at]):
                yield Result(name, value, unit, row.line, "sample", of)
            else:
                yield Result(
                    name, value, unit, row.line, "", count_of or ({"label": label} if label else {})
                )


def _count_of(others: Sequence[Sequence[tuple[str, float, str]]], place: int) -> dict[str, Any]:
    """What another number of a line counts, by its name: `np=8: 9.8 s`."""
    named = [column[place] for column in others if column[place][0] not in ("figure", "rate")]
    counts = [(kind, value) for name, value, _ in named if (kind := counted(name))]
    if len(counts) != 1 or counts[0][1] != int(counts[0][1]) or counts[0][1] <= 0:
        return {}
    return {counts[0][0]: int(counts[0][1])}


def _stays(column: Sequence[tuple[str, float, str]]) -> bool:
    """Whether numbers are all the same, or count on by the same step."""
    steps = {round(new[1] - old[1], 6) for old, new in pairwise(column)}
    return len(steps) == 1


def _rises(column: Sequence[tuple[str, float, str]]) -> bool:
    """Whether each is above the one before, or each below, as a clock or a sweep is."""
    ways = {(new[1] > old[1]) - (new[1] < old[1]) for old, new in pairwise(column)}
    return ways in ({1}, {-1})

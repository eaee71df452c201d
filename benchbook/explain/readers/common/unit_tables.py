"""Tables of figures with units that no reader knows: in Markdown, as CSV, and in aligned columns.

They are read where nothing else was recognised. A column counts if its head or its cells name a
unit; what has none is a label of the row. table_columns.py has what columns are of.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.table_columns import (
    LEAST_COLUMNS,
    LONGEST_LABEL,
    NO_FIGURE,
    UNIT,
    UNITS,
    Column,
    columns,
    counted,
    name_of,
    unit_of,
    with_count,
)
from benchbook.explain.units import in_base

TOOL = "table"
LOOKS_FOR = (
    "tables of Markdown, CSV or aligned columns whose heads or cells have units: `| time (ms) |`"
)
_NUMBER = r"[-+]?\d[\d.,']*(?:[eE][-+]?\d+)?"
_PLUS = r"(?:±|\+/-|\+-)"
_CELL = late(
    rf"[~≈<>≤≥]? ?(?P<value>{_NUMBER})(?: ?{_PLUS} ?(?P<error>\d[\d.,]*) ?(?P<percent>%)?)?"
    rf"(?: ?(?P<unit>{UNIT}|[x×]))?"
    rf"(?: ?\(?{_PLUS} ?(?P<behind>\d[\d.,]*) ?(?P<behind_unit>{UNIT})?\)?)?"
    rf"(?: ?\([^()]{{0,40}}\))?"
)
# A time in hours, minutes and seconds, as shells print it and as people write it.
_CLOCK = late(
    r"(?:(?P<h>\d{1,4}) ?h(?:ours?)?,? ?)?(?P<m>\d{1,6}) ?m(?:in(?:utes?)?)?,? ?"
    r"(?P<s>\d{1,2}(?:\.\d{1,6})?) ?s(?:ec(?:onds?)?)?"
)
# A change in per cent, with its interval where it has one; whatever sign stands before it.
_SIGNED = r"[+\u2212-]?\d+(?:\.\d+)?"
_CHANGE = late(
    rf"(?:[^\w\s+\u2212-]{{1,2}} ?)?(?P<value>{_SIGNED}) ?%"
    rf"(?: ?[\[(](?P<low>{_SIGNED}) ?%?, ?(?P<high>{_SIGNED}) ?%?[\])])?"
)
_NOISE = late(r"(?:±|\+/-|\+-) ?(?P<value>\d+(?:\.\d+)?) ?%")
_TIMES = late(r"(?P<value>\d+(?:\.\d+)?) ?[x×](?: (?:faster|slower))?(?: ?\([^()]{0,40}\))?")
_COMPARING = ("change", "ratio")  # which alone make no table of figures
# What a column is of several figures, by a word of its head.
_STATISTIC = late(
    r"(?:^|[\s_(])(?:(?P<min>min(?:imum)?)|(?P<max>max(?:imum)?)|(?P<mean>avg|average|mean)"
    r"|(?P<median>median)|(?P<p>[pP]\d{2}(?:\.\d+)?)"
    r"|(?P<stddev>std\.? ?dev\.?|std|standard deviation|σ))(?:$|[\s_)])",
    re.I,
)
# Rows that are repetitions: their first column counts them, and a last row may be their mean.
_RUNS = late(r"(?:runs?|iterations?|iter|trials?|attempts?|rep(?:etition)?s?|#|n(?:o|r)\.?|)", re.I)
_RUN = late(
    r"(?:(?:run|iteration|trial|attempt|rep(?:etition)?|test) ?)?#?(?P<number>\d{1,4})\.?", re.I
)
_MEAN = late(r"(?:avg|average|mean)\.?", re.I)
_LEAST_RUNS = 3
_PER_OPERATION = late(r"\b[nuµm]?s/(?:op|iter)\b")
_SECTION = late(r"^[#>*\s]*(?P<text>[^`|<>#*\s][^|<>]{0,79}?)[`:*\s]*$")
_BREAK = late(r" *<br */?> *", re.I)
# Heads of the bytes of a message or of a block, and such a cell.
_OF_BYTES = {
    "size": "message_bytes", "bytes": "message_bytes", "#bytes": "message_bytes",
    "message size": "message_bytes", "msg size": "message_bytes", "size (b)": "message_bytes",
    "size (bytes)": "message_bytes", "message size (bytes)": "message_bytes",
    "block size": "block_bytes", "bs": "block_bytes", "blocksize": "block_bytes",
}  # fmt: skip
_BYTES = late(r"(?P<count>\d{1,12}) ?(?P<prefix>[KkMmGg]?)(?:i?B)?")
_PREFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DASHES = late(r"[-=\u2500]{10,400}")
# Copies between host and device, by what heads and labels call them.
_HOST, _CARD, _TO = r"(?:H(?:ost)?|CPU)", r"(?:D(?:ev(?:ice)?)?|GPU)", r" ?(?:2|to|->|→) ?"
_WAYS = {
    "host to device": late(rf"(?i)\b(?:{_HOST}{_TO}{_CARD}|HtoD)\b"),
    "device to host": late(rf"(?i)\b(?:{_CARD}{_TO}{_HOST}|DtoH)\b"),
    "device to device": late(rf"(?i)\b(?:{_CARD}{_TO}{_CARD}|DtoD)\b"),
}
_PINNED = late(r"(?i)\b(?:pinned|page-?locked)\b")
_PAGEABLE = late(r"(?i)\b(?:pageable|paged|non-?pinned|unpinned|malloc(?:ed)?)\b")
_SIZED = late(r"(?<![\w.])(?P<count>\d{1,5}(?:\.\d+)?) ?(?P<prefix>[KMG])i?B(?![\w/])")
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30}
_RULE = late(r"[|:+\s-]*-[|:+\s-]*")
_SEPARATORS = (",", ";", "\t")
# Of tables whose heads have no units: what stands above them, as in a summary of lmbench.
_IN_TITLE = late(
    r"\b(?:times?|latenc(?:y|ies)|bandwidths?|rates?|results?|throughputs?|speeds?|numbers)\b"
    r".{0,40}(?:\bin |\()"
    r"(?P<unit>nanoseconds|microseconds|milliseconds|seconds|ns|us|ms|[KMG]i?B/s(?:ec)?)\b",
    re.I,
)
_IN_WORDS = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s"}
_ARITHMETIC = late(r"(?:intgr|u?int64|float|double) (?:bit|add|mul|div|mod)")
_LEAST_ROWS, _LEAST_UNRULED = 2, 3
_LEAST_FIGURES = 2  # of a table of one row
_LEAST_CELLS = 3  # of a table of bars without a rule
_GAP = late(r"\s{2,}|\t+")
_HAS_DIGIT = late(r"\d")
_DIGITS_OF_COUNT = 6


class _Figure(NamedTuple):
    """What a cell says; an error in the unit of the value."""

    name: str
    value: float | None
    error: float | None
    unit: str
    statistic: str
    of: dict[str, Any]


def read(log: Log) -> list[Report]:
    """One report for each table."""
    return [*_markdown(log), *_separated(log), *_aligned(log)]


def _markdown(log: Log) -> Iterator[Report]:
    """Tables with bars, whose second line is a rule, or whose rows are all alike."""
    table: list[tuple[Line, list[str]]] = []
    is_ruled, title, section = False, "", ""
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if len(table) == 1 and not is_ruled and _DASHES.fullmatch(text):
            is_ruled = True  # a rule without bars, as some programs draw it
            continue
        if text.count("|") >= LEAST_COLUMNS - 1 and len(text) <= LONGEST and text:
            if not is_ruled and _RULE.fullmatch(text) and "|" in text:
                table, is_ruled = table[-1:], bool(table)
            else:
                table.append((line, [_bare(cell) for cell in text.strip("|").split("|")]))
            continue
        if is_ruled or _is_unruled(table, title):
            yield from _report(log, table, title, section)
            section = ""
        if text:
            headed = _SECTION.match(text) if len(text) < 2 * LONGEST_LABEL else None
            section = headed["text"] if headed else section
            may_name = len(text) <= LONGEST and ("in " in text or "(" in text)
            titled = _IN_TITLE.search(text) if may_name else None
            unit = titled["unit"].removesuffix("ec") if titled else ""
            title = _IN_WORDS.get(unit.lower(), unit)
        table, is_ruled = [], False


def _is_unruled(table: Sequence[tuple[Line, list[str]]], title: str) -> bool:
    """Whether lines with bars and no rule are a table: heads without numbers, and several rows of
    as many cells, of which somebody names a unit."""
    if len(table) <= _LEAST_UNRULED:
        return False
    heads = table[0][1]
    alike = all(len(cells) == len(heads) for _, cells in table)
    has_unit = bool(title) or any(map(unit_of, heads))
    words = not any(_CELL.fullmatch(head) for head in heads)
    return alike and has_unit and words and len(heads) >= _LEAST_CELLS


def _aligned(log: Log) -> Iterator[Report]:
    """Columns that are parted by spaces, below heads without numbers of which one has a unit, or
    counts threads next to a time."""
    table: list[tuple[Line, list[str]]] = []
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if table and text and not text.strip("-=_ \t"):
            continue
        cells = [_bare(cell) for cell in (_GAP.split(text) if text else ())]
        if table and len(cells) != len(table[0][1]):
            cells = text.split()
        is_row = len(cells) == len(table[0][1]) if table else False
        if is_row and sum(bool(_CELL.fullmatch(cell)) for cell in cells) * 2 > len(cells):
            table.append((line, cells))
            continue
        if len(table) > _LEAST_UNRULED:
            yield from _report(log, table)
        table = [(line, heads)] if (heads := _heads(text)) else []


def _heads(text: str) -> list[str]:
    """The heads of aligned columns in a line; none where it has no such."""
    if not text or "|" in text or len(text) > LONGEST or _HAS_DIGIT.search(text):
        return []
    for heads in (_GAP.split(text), text.split()):
        own = [_bare(head) for head in heads]
        # A line of units alone stands below names that are known to its tool.
        is_of_units = any(own.count(head) > 1 for head in own if head in UNITS)
        if len(own) >= LEAST_COLUMNS and any(map(unit_of, own)) and not is_of_units:
            return own
        of = columns(own, []) if any(map(counted, own)) else []
        if any(column.bare_unit for column in of):
            return own
    return []


def _bare(cell: str) -> str:
    text = _BREAK.sub(" ", cell) if "<" in cell else cell
    return text.strip().strip("*`_").strip()


def _separated(log: Log) -> Iterator[Report]:
    """Lines that are parted alike, below one that names units."""
    table: list[tuple[Line, list[str]]] = []
    separator = ""
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if table and separator in text:
            cells = next(csv.reader([text], delimiter=separator), [])
            if len(cells) == len(table[0][1]):
                table.append((line, [_bare(cell) for cell in cells]))
                continue
        if table:
            yield from _report(log, table)
        table, separator = [], ""
        for mark in _SEPARATORS if "|" not in text else ():
            cells = [_bare(cell) for cell in text.split(mark)]
            if len(cells) >= LEAST_COLUMNS and any(unit_of(cell) for cell in cells):
                table, separator = [(line, cells)], mark
                break


def _report(
    log: Log, table: Sequence[tuple[Line, list[str]]], title: str = "", section: str = ""
) -> Iterator[Report]:
    """A table with its head; nothing where no column has a unit. `title`: the unit of all columns
    without one, by what stands above; `section`: the last words above it."""
    if len(table) < _LEAST_ROWS:
        return
    (head_line, heads), rows = table[0], table[1:]
    of_columns = columns(heads, [cells for _, cells in rows])
    results = [
        result for line, cells in rows for result in _row(log, line, cells, of_columns, title)
    ]
    # A single row is a table only where it has several figures.
    if len(table) == _LEAST_ROWS and len(results) < _LEAST_FIGURES:
        return
    results = list(_in_columns(heads, rows, _repeated(table, results)))
    if any(result.statistic not in _COMPARING for result in results):
        facts = {"section": section} if section else {}
        yield Report(TOOL, results, head_line.number, "", facts)


def _repeated(
    table: Sequence[tuple[Line, list[str]]], results: Sequence[Result]
) -> Iterator[Result]:
    """Its figures as samples with their mean, where the rows are runs that somebody counted."""
    (_, heads), rows = table[0], table[1:]
    labels = {line.number: cells[0] for line, cells in rows if cells}
    runs = {line: found for line, text in labels.items() if (found := _RUN.fullmatch(text))}
    numbers = [int(found["number"]) for found in runs.values()]
    is_counted = numbers in (list(range(len(runs))), list(range(1, len(runs) + 1)))
    called = _RUNS.fullmatch(heads[0]) or all(
        len(found[0]) > len(found["number"]) for found in runs.values()
    )
    # Rows that have a name of their own beside the number are of different things.
    others = {
        str(own.of.get("label", "")).removeprefix(labels[own.line]).strip()
        for own in results
        if own.line in runs
    }
    if len(runs) < _LEAST_RUNS or not (is_counted and called) or len(others) > 1:
        yield from results
        return
    places = {line: place for place, line in enumerate(runs)}
    for result in results:
        of: dict[str, Any] = {"benchmark": result.name}
        if result.statistic:
            yield result
        elif result.line in places:
            own = {**of, "repetition": places[result.line]}
            yield replace(result, statistic="sample", of=own)
        elif _MEAN.fullmatch(labels.get(result.line, "")):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, statistic="mean", of=own)
        else:
            yield result


def _in_columns(
    heads: Sequence[str], rows: Sequence[tuple[Line, list[str]]], results: Iterable[Result]
) -> Iterator[Result]:
    """Its figures as samples of their row, where the columns are runs: `run 1 | run 2 | avg`."""
    runs = {name_of(head): found for head in heads if (found := _RUN.fullmatch(name_of(head)))}
    numbers = [int(found["number"]) for found in runs.values()]
    called = all(len(found[0]) > len(found["number"]) for found in runs.values())
    if len(runs) < _LEAST_RUNS or not called or numbers != list(range(numbers[0], numbers[-1] + 1)):
        yield from results
        return
    labels = {line.number: cells[0] or "row" for line, cells in rows if cells}
    for result in results:
        label = labels.get(result.line, "row")
        of: dict[str, Any] = {"benchmark": label}
        if result.name in runs and result.statistic in ("", "mean"):
            place = numbers.index(int(runs[result.name]["number"]))
            of |= {"repetition": place}
            yield replace(result, name=label, statistic="sample", of=of)
        elif _MEAN.fullmatch(result.name):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, name=label, statistic="mean", of=own)
        else:
            yield result


def _row(
    log: Log, line: Line, cells: Sequence[str], of_columns: Sequence[Column], title: str
) -> Iterator[Result]:
    """The figures of a row, with its label, and what it counts."""
    label: list[str] = []
    settings: list[str] = []
    counts: dict[str, int] = {}
    compared: list[Result] = []
    figures: list[_Figure] = []
    of_row = unit_of(cells[0]) if cells else ""  # a row called `wall time (s)`
    names_rows = any(column.named for column in of_columns)
    for at, (column, cell) in enumerate(zip(of_columns, cells, strict=False)):
        if others := list(_of_comparison(line, column.head, cell)):
            compared += others
            continue
        if clock := _CLOCK.fullmatch(cell):
            parts = (clock["h"] or "0", clock["m"], clock["s"])
            seconds = sum(float(part) * 60 ** (2 - at) for at, part in enumerate(parts))
            name, statistic = name_of(column.head), _statistic(column.head)
            figures.append(_Figure(name, seconds, None, "s", statistic, {}))
            continue
        found = _CELL.fullmatch(cell)
        unit = (found["unit"] if found else "") or ""
        unit = UNITS.get(unit, "") or ("" if unit else unit_of(column.head))
        if found and not (unit or found["unit"] or column.counted or column.is_setting):
            unit = column.bare_unit or _clock_or(title, column.head)
        name = name_of(column.head)
        if found and not unit and of_row and not found["unit"]:
            unit, name = of_row, f"{name_of(cells[0])} {name}"
        if column.named and at:
            name = name_of(cells[0])[:LONGEST_LABEL] or name
        if found and unit:
            of: dict[str, Any] = dict(column.named)
            if _PER_OPERATION.search(f"{found['unit'] or ''} {column.head}"):
                of["is_per_operation"] = True
            figures.append(_read(log, found, name, unit, _statistic(column.head), of))
        elif column.counted and cell.isdecimal() and len(cell) < _DIGITS_OF_COUNT:
            counts[column.counted] = int(cell)
            label.append(cell)
        elif (sized := _OF_BYTES.get(column.head.lower())) and (size := _BYTES.fullmatch(cell)):
            counts[sized] = int(size["count"]) * _PREFIXES[size["prefix"].lower()]
            label.append(cell)
        elif cell and (at or not names_rows):
            named = with_count(cell)
            if named:
                counts[named[0]] = named[1]
            if column.is_setting:
                settings.append(cell)
            label.append(f"{named[1]} {named[0]}" if named else cell[:LONGEST_LABEL])
    own: dict[str, Any] = {"label": " ".join(label)} if label else {}
    own |= counts
    own |= {"setting": " ".join(settings)} if settings else {}
    for figure in figures:
        of_copy = _of_copy(figure.name, *label) if figure.unit.endswith("B/s") else {}
        yield from _figures(line, figure, {**own, **of_copy, **figure.of})
    for result in compared:
        yield replace(result, of={**own, **result.of})


def _of_comparison(line: Line, head: str, cell: str) -> Iterator[Result]:
    """A cell that compares others of its row: a change, a ratio, or the noise of both."""
    if found := _NOISE.fullmatch(cell):
        yield Result(name_of(head), float(found["value"]), "%", line.number, "noise")
    elif (found := _CHANGE.fullmatch(cell)) and not unit_of(head):
        of: dict[str, Any] = {}
        ends = [found["low"], found["high"]]
        if all(ends):
            low, high = sorted(float(end.replace("\u2212", "-")) for end in ends)
            of = {"change_low_percent": low, "change_high_percent": high}
        value = float(found["value"].replace("\u2212", "-"))
        yield Result(name_of(head), value, "%", line.number, "change", of)
    elif (found := _TIMES.fullmatch(cell)) and not unit_of(head):
        yield Result(name_of(head), float(found["value"]), "1", line.number, "ratio")


def _clock_or(unit: str, head: str) -> str:
    """The unit of a column without one: that of the title, or of a clock."""
    if not unit or NO_FIGURE.search(head):
        return ""
    return {"mhz": "MHz", "ghz": "GHz"}.get(head.lower(), unit)


def _of_copy(*words: str) -> dict[str, Any]:
    """What head and labels say of a copy between host and device: its direction, the kind of the
    host's memory, its size; nothing where they name no direction."""
    text = " ".join(words)
    ways = [way for way, pattern in _WAYS.items() if pattern.search(text)]
    if len(ways) != 1:
        return {}
    of: dict[str, Any] = {"direction": ways[0]}
    pinned, paged = _PINNED.search(text), _PAGEABLE.search(text)
    if "host" in ways[0] and bool(pinned) != bool(paged):
        of["host_memory"] = "pageable" if paged else "pinned"
    sizes = list(_SIZED.finditer(text))
    if len(sizes) == 1:
        of["message_bytes"] = int(float(sizes[0]["count"]) * _SIZES[sizes[0]["prefix"]])
    return of


def _statistic(head: str) -> str:
    """What a column is of several figures: by one word of its head, where it has one."""
    found = list(_STATISTIC.finditer(name_of(head))) if len(head) <= LONGEST_LABEL else []
    if len(found) != 1:
        return ""
    return str(found[0]["p"] or found[0].lastgroup).lower()


def _read(
    log: Log, found: re.Match[str], name: str, unit: str, statistic: str, of: dict[str, Any]
) -> _Figure:
    """The figure of a cell with its error, in one unit; an error in per cent as what it is."""
    value = log.number(found["value"])
    error = log.number(found["error"] or found["behind"] or "0") or None
    is_share = found["percent"] or found["behind_unit"] == "%"
    is_zero = (found["error"] or found["behind"]) and error is None
    if error and is_share:
        error = None if value is None else abs(value) * error / 100
    elif error and found["behind_unit"] and found["behind_unit"] in UNITS:
        (size, base), (own, of_value) = (
            in_base(1.0, each) for each in (UNITS[found["behind_unit"]], unit)
        )
        error = error * size / own if base == of_value else None
    return _Figure(name, value, 0.0 if is_zero and not is_share else error, unit, statistic, of)


def _figures(line: Line, figure: _Figure, of: dict[str, Any]) -> Iterator[Result]:
    if figure.unit == "ns" and _ARITHMETIC.fullmatch(figure.name):
        of = of | {"arithmetic": figure.name}
    has_error = figure.error is not None
    statistic = figure.statistic or ("mean" if has_error else "")
    if figure.value is not None:
        yield Result(figure.name, figure.value, figure.unit, line.number, statistic, of)
    if figure.error is not None:
        yield Result(figure.name, figure.error, figure.unit, line.number, "error", of)

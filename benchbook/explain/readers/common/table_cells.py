"""What the cells of a row of a table say: figures with their errors, changes, counts, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Result
from benchbook.explain.readers.common import cells_of_several
from benchbook.explain.readers.common.table_columns import (
    KEPT,
    LONGEST_LABEL,
    NO_FIGURE,
    UNIT,
    UNITS,
    Column,
    holds_units,
    name_of,
    unit_of,
    with_count,
)
from benchbook.explain.results import GIVEN
from benchbook.explain.units import in_base

_NUMBER = r"[-+]?\d[\d.,']*(?:[eE][-+]?\d+)?"
_PLUS = r"(?:±|\+/-|\+-)"
CELL = late(
    rf"[~≈<>≤≥]? ?(?P<value>{_NUMBER})(?: ?{_PLUS} ?(?P<error>\d[\d.,]*) ?(?P<percent>%)?)?"
    rf"(?: ?(?P<unit>{UNIT}|[x×]))?"
    rf"(?: ?\(?{_PLUS} ?(?P<behind>\d[\d.,]*) ?(?P<behind_unit>{UNIT})?\)?)?"
    rf"(?: ?\((?P<brackets>[^()]{{0,80}})\))?"
)
# The ends of the values of a cell, behind it.
_ENDS = late(rf" ?(?P<low>{_NUMBER}) ?(?:‥|…|\.{{2,3}}|\u2013| - | to ) ?(?P<high>{_NUMBER}) ?")
# Heads of numbers that a row says next to its figures, and that nobody knows without them.
_OF_COUNT = late(r"(?i)(?:calls|count|instances|iterations|iters|loops)")
# A time in hours, minutes and seconds, as shells print it and as people write it.
_CLOCK = late(
    r"(?:(?P<h>\d{1,4}) ?h(?:ours?)?,? ?)?(?P<m>\d{1,6}) ?m(?:in(?:utes?)?)?,? ?"
    r"(?P<s>\d{1,2}(?:\.\d{1,6})?) ?s(?:ec(?:onds?)?)?"
)
# Minutes and seconds with decimals, as GNU time prints them: without these it may be a time of day.
_MINUTES = late(r"(?:(?P<h>\d{1,3}):)?(?P<m>\d{1,3}):(?P<s>[0-5]\d\.\d{1,3})")
# A change in per cent, with its interval where it has one; whatever sign stands before it.
_SIGNED = r"[+\u2212-]?\d+(?:\.\d+)?"
_CHANGE = late(
    rf"(?:[^\w\s+\u2212-]{{1,2}} ?)?(?P<value>{_SIGNED}) ?%"
    rf"(?: ?[\[(](?P<low>{_SIGNED}) ?%?, ?(?P<high>{_SIGNED}) ?%?[\])])?"
    r"(?: (?:faster|slower|quicker|less|more|fewer|lower|higher|smaller|larger|better|worse"
    r"|reduction|improvement|speed-?up|increase|decrease))?"
)
_SIGNS = ("+", "-", "\u2212")
_PRINTED_SIGNS = "~≈<>≤≥"  # of figures that are no more than about right, or limits
_OF_SHARE = late(
    r"(?i)effic|\butil|\b(?:usage|share|hit|miss|busy|idle|cpu|occupancy|coverage|accuracy)\b"
    r"|\btotal ?%|\bof (?:peak|total|all)\b|\brelative percent|\b(?:r?std)?dev(?:iation)?\b"
    r"|\bstability\b|\bvariation\b"
    r"|(?:\b|_)(?:miss(?:es)?|hits?|loss|overlap)(?:\b|_)"
)
_NOISE = late(r"(?:±|\+/-|\+-) ?(?P<value>\d+(?:\.\d+)?) ?%")
_TIMES = late(r"(?P<value>\d+(?:\.\d+)?) ?[x×](?: (?:faster|slower))?(?: ?\([^()]{0,40}\))?")
# What a column is of several figures, by a word of its head.
_STATISTIC = late(
    r"(?:^|[\s_(])(?:(?P<min>min(?:imum)?)|(?P<max>max(?:imum)?)|(?P<mean>avg|average|mean)"
    r"|(?P<median>med(?:ian)?)|(?P<p>[pP]\d{2}(?:\.\d+)?)"
    r"|(?P<stddev>std\.? ?dev\.?|std|standard deviation|σ))(?:$|[\s_)])",
    re.I,
)
_PER_OPERATION = late(r"\b[nuµm]?s/(?:op|iter)\b")
# Heads of the bytes of a message or of a block, and such a cell.
_OF_BYTES = {
    "size": "message_bytes", "bytes": "message_bytes", "#bytes": "message_bytes",
    "message size": "message_bytes", "msg size": "message_bytes", "size (b)": "message_bytes",
    "size (bytes)": "message_bytes", "message size (bytes)": "message_bytes",
    "packet size": "message_bytes", "packet size (bytes)": "message_bytes",
    "frame size": "message_bytes", "frame size (bytes)": "message_bytes",
    "block size": "block_bytes", "bs": "block_bytes", "blocksize": "block_bytes",
}  # fmt: skip
_BYTES = late(r"(?P<count>\d{1,12}) ?(?P<prefix>[KkMmGg]?)(?:i?B)?(?: \([^()\d]{1,40}\d?\))?")
_PREFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
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
# Counts a second below such heads, as people shorten them: `995k`, `1.8M`.
_SHORT = late(r"(?P<value>\d{1,6}(?:\.\d{1,4})?)(?P<prefix>[kKMG])")
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_COUNTS = ("packets/s", "operations/s", "requests/s", "transactions/s", "queries/s", "messages/s")
_LONGEST_NAME = 200  # characters of a label, which people see in full
_REMARK = late(r"^\([^()\d]{3,30}\) (?=\d)")  # `(run time too short) 0.36`
_PLAIN = late(r"\d[\d,]*(?:\.\d+)?")
_ARITHMETIC = late(r"(?:intgr|u?int64|float|double) (?:bit|add|mul|div|mod)")
_DIGITS_OF_COUNT = 6
# Columns of numbers without a unit, by their heads; and of memory, whose cells or heads have one.
_BARE = late(
    r"(?:alloc(?:ation)? )?ratio(?: ?sd)?|speed-?ups?|factor|relative|efficiency|scores?"
    r"|p-?values?(?: \([^()]{1,40}\))?"
    r"|gen ?\d|ipc|cpi|op/s|ops|(?:# ?)?alloc(?:ation)?s(?: ?/ ?op)?|gcs?(?: count)?",
    re.I,
)
# Statistics without a unit, next to columns that have one.
_BARE_STATISTIC = late(
    r"(?:min|max|avg|mean|median|std ?dev|p\d{2}(?:\.\d{1,3})?|\d{2}(?:\.\d{1,3})?th)", re.I
)
_MEMORY = late(r"alloc|\bmem|\brss\b|heap|footprint|\bpeak\b", re.I)
_MEMORY_UNITS = {
    "B": "B", "KB": "kB", "kB": "kB", "MB": "MB", "GB": "GB", "KiB": "KiB", "MiB": "MiB",
    "GiB": "GiB", "bytes": "B",
}  # fmt: skip
_OF_MEMORY = late(r"(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>[kKMG]i?B|B|bytes)?")
_IN_BRACKETS = late(r" ?[(\[](?P<unit>[kKMG]i?B|B|bytes)[)\]]$")


class _Figure(NamedTuple):
    """What a cell says; an error and both ends in the unit of the value."""

    name: str
    value: float | None
    error: float | None
    unit: str
    statistic: str
    of: dict[str, Any]
    ends: tuple[float, float] | None = None


def figures_of(
    log: Log, line: Line, cells: Sequence[str], of_columns: Sequence[Column], title: str
) -> Iterator[Result]:
    """The figures of a row, with its label, and what it counts."""
    label: list[str] = []
    bare: list[tuple[int, str]] = []  # numbers of the label without a word: their places and heads
    words: dict[str, str] = {}  # of the label, by their heads
    settings: list[str] = []
    counts: dict[str, int] = {}
    compared: list[Result] = []
    figures: list[_Figure] = []
    of_row = unit_of(cells[0]) if cells else ""  # a row called `wall time (s)`
    # Or a column says it.
    said = [
        UNITS.get(cell, "")
        for column, cell in zip(of_columns, cells, strict=False)
        if holds_units(column.head)
    ]
    of_row = of_row or next(iter(said), "")
    has_units = bool(of_row) or any(unit_of(column.head) for column in of_columns)
    names_rows = any(column.named for column in of_columns)
    for at, (column, cell) in enumerate(zip(of_columns, cells, strict=False)):
        if of_row and holds_units(column.head):
            continue
        if others := list(_of_comparison(line, column.head, cell, cells[:2])):
            compared += others
            continue
        if has_units and _BARE_STATISTIC.fullmatch(column.head.strip(" :")):
            number = log.number(cell) if _PLAIN.fullmatch(cell) else None
            if number is not None:
                name = column.head.strip(" :")
                compared.append(Result(name, number, "1", line.number, GIVEN))
                continue
        if several := list(cells_of_several.figures_of(line, column.head, cell)):
            compared += several
            continue
        has_clock = "m" in cell or (":" in cell and not unit_of(column.head))
        clock = (_CLOCK.fullmatch(cell) or _MINUTES.fullmatch(cell)) if has_clock else None
        if clock:
            parts = (clock["h"] or "0", clock["m"], clock["s"])
            seconds = sum(float(part) * 60 ** (2 - at) for at, part in enumerate(parts))
            name, statistic = name_of(column.head), statistic_of(column.head)
            figures.append(_Figure(name, seconds, None, "s", statistic, {}))
            continue
        found = CELL.fullmatch(cell)
        if found is None and (short := _SHORT.fullmatch(cell)) and unit_of(column.head) in _COUNTS:
            found = CELL.fullmatch(f"{float(short['value']) * _THOUSANDS[short['prefix']]:.10g}")
        unit = (found["unit"] if found else "") or ""
        if found and not unit and found["brackets"] in UNITS and found["brackets"] != "%":
            unit = found["brackets"]  # `84504.8 (Mb/s)`
        unit = UNITS.get(unit, "") or ("" if unit else unit_of(column.head))
        if found and not (unit or found["unit"] or column.counted or column.is_setting):
            unit = column.bare_unit or _clock_or(title, column.head)
        name = name_of(column.head)
        if column.bare_unit == "s":
            name = name.removesuffix(" s")
        if found and not unit and of_row and not found["unit"]:
            unit, name = of_row, f"{name_of(cells[0])} {name}"
        if column.named and at:
            name = name_of(cells[0])[:LONGEST_LABEL] or name
        if found and unit:
            of: dict[str, Any] = dict(column.named)
            if _PER_OPERATION.search(f"{found['unit'] or ''} {column.head}"):
                of["is_per_operation"] = True
            if cell[0] in _PRINTED_SIGNS:
                of["printed_sign"] = cell[0]
            figures.append(_read(log, found, name, unit, statistic_of(column.head), of))
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
            if column.head and _PLAIN.fullmatch(cell):
                bare.append((len(label), column.head))
            label.append(f"{named[1]} {named[0]}" if named else cell[:_LONGEST_NAME])
            if not named:
                words[column.head] = cell[:_LONGEST_NAME]
    for place, head in bare:
        if len(bare) > 1 or _OF_COUNT.fullmatch(head):
            label[place] = f"{head} {label[place]}"
    own: dict[str, Any] = {"label": " ".join(label)} if label else {}
    own |= counts
    if len(words) + len(counts) == len(label) and any(words):  # else two have one head
        own["label_parts"] = words
    own |= {"setting": " ".join(settings)} if settings else {}
    for figure in figures:
        of_copy = _of_copy(figure.name, *label) if figure.unit.endswith("B/s") else {}
        yield from _figures(line, figure, {**own, **of_copy, **figure.of})
    for result in compared:
        yield replace(result, of={**own, **result.of})


def _of_comparison(line: Line, head: str, cell: str, labels: Sequence[str]) -> Iterator[Result]:
    """A cell that compares others of its row: a change, a ratio, or the noise of both."""
    is_share = "%" in cell
    found = _CHANGE.fullmatch(cell) if is_share else None
    if is_share and (noise := _NOISE.fullmatch(cell)):
        yield Result(name_of(head), float(noise["value"]), "%", line.number, "noise")
    elif found and _OF_SHARE.search(head) and cell[:1] not in _SIGNS and not unit_of(head):
        yield Result(name_of(head), float(found["value"]), "%", line.number, GIVEN)
    elif found and _may_be_change(head, cell):
        of: dict[str, Any] = {}
        ends = [found["low"], found["high"]]
        if all(ends):
            low, high = sorted(float(end.replace("\u2212", "-")) for end in ends)
            of = {"change_low_percent": low, "change_high_percent": high}
        value = float(found["value"].replace("\u2212", "-"))
        yield Result(name_of(head), value, "%", line.number, "change", of)
    elif (times := _TIMES.fullmatch(cell)) and not unit_of(head):
        yield Result(name_of(head), float(times["value"]), "1", line.number, "ratio")
    else:
        yield from _plain(line, head, cell, labels)


def _may_be_change(head: str, cell: str) -> bool:
    """Whether a number of per cent compares others: not where it is a share of its own."""
    unit = unit_of(head)
    return not unit or (unit == "%" and cell[:1] in _SIGNS)


def _plain(line: Line, head: str, cell: str, labels: Sequence[str]) -> Iterator[Result]:
    """A cell without a unit below a head that says what it is; or memory."""
    if _is_bare(head) and (found := _PLAIN.fullmatch(_REMARK.sub("", cell))):
        yield Result(head.strip(), float(found[0].replace(",", "")), "1", line.number, GIVEN)
    elif found := _OF_MEMORY.fullmatch(cell):
        said = _IN_BRACKETS.search(head)
        unit = found["unit"] or (said["unit"] if said else "")
        if unit and any(_MEMORY.search(text[:LONGEST_LABEL]) for text in (head, *labels)):
            name = _IN_BRACKETS.sub("", head).strip()
            value = float(found["value"].replace(",", ""))
            yield Result(name, value, _MEMORY_UNITS[unit], line.number, GIVEN)


@lru_cache(maxsize=KEPT)
def _is_bare(head: str) -> bool:
    """Whether the numbers below a head have no unit."""
    return bool(_BARE.fullmatch(head.strip()))


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


@lru_cache(maxsize=KEPT)
def statistic_of(head: str) -> str:
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
    error = 0.0 if is_zero and not is_share else error
    return _Figure(name, value, error, unit, statistic, of, _ends(log, value, found["brackets"]))


def _ends(log: Log, value: float | None, text: str | None) -> tuple[float, float] | None:
    """The lower and the upper end, in brackets behind a value that lies between them."""
    found = _ENDS.fullmatch(text) if text and value is not None else None
    low, high = (log.number(found[end]) if found else None for end in ("low", "high"))
    if value is None or low is None or high is None:
        return None
    return (low, high) if low <= value <= high else None


def _figures(line: Line, figure: _Figure, of: dict[str, Any]) -> Iterator[Result]:
    if figure.unit == "ns" and _ARITHMETIC.fullmatch(figure.name):
        of = of | {"arithmetic": figure.name}
    has_error = figure.error is not None
    statistic = figure.statistic or ("mean" if has_error else "")
    if figure.value is not None:
        yield Result(figure.name, figure.value, figure.unit, line.number, statistic, of)
    if figure.error is not None:
        yield Result(figure.name, figure.error, figure.unit, line.number, "error", of)
    # Least and most, or the ends of an interval: the table does not say which.
    for word, end in zip(("from", "to"), figure.ends or (), strict=False):
        yield Result(f"{figure.name} {word}", end, figure.unit, line.number, GIVEN, of)

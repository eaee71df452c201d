"""Rows of numbers whose head was not posted: the middle of a table of OSU, IMB or iostat, or a data
frame.

They are read where nothing else was recognised. Nobody knows what the columns are, so they have
numbers, and no rule judges them. Of IMB's rows the numbers themselves say it: the last one is the
first over the third.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from benchbook.explain import source_code
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.bars import barred
from benchbook.explain.results import GIVEN

TOOL = "rows without a head"
_HEADED = "table without units"
LOOKS_FOR = "three rows and more of numbers whose head is missing: `1024  1.35`, `sda  0.00  4.00`"
_NUMBER = late(r"-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:[eE][-+]?\d{1,3})?%?")
# As pytest-benchmark has behind its figures, and between them.
_RATIO = late(r" \(>?\d[\d.,]*\)(?=\s|$)|(?<=\s)\d+;\d+(?=\s|$)")
_LABEL = late(r"[^\W\d][\w.:/\[\]()-]*(?: [^\W\d][\w.()/-]*){0,3}|\d{1,4}:")
_SKIPPED = late(r"[\s|:+=-]*")
_WORD = late(r"\S+")
_HEAD = late(r"[^\d|]{1,40}\d{0,3}%?")
_OF_PROSE = ("the", "a", "of", "and", "is", "are", "with", "I", "we", "this", "my")
_LONGEST_QUOTED = 160
_LEAST_ROWS, _LEAST_NUMBERS, _OF_MESSAGES = 3, 2, 4
_LEAST_OF_WIDE, _WIDE = 2, 6  # rows of so many numbers
_LONGEST, _MOST = 300, 2000
_NOTE = (
    "No head of these rows was understood: their columns are numbered, and nothing is said of "
    "them. Put in the lines above, and the command."
)
_NOTE_ABOVE = (
    "Which words of the head belong to which column of these rows is not certain, so their columns "
    "are numbered. Above them stands {quoted}."
)
_NOTE_OF_HEADS = "No unit was read for the columns of figures, so they are shown as they stand."


class _Row(NamedTuple):
    line: int
    label: str
    numbers: tuple[str, ...]
    text: str


def read(log: Log) -> list[Report]:
    """One report for each group of rows that are alike; none of source code, and none of whole
    numbers only, which may count or name anything."""
    if source_code.is_source(log):
        return []
    reports: list[Report] = []
    rows: list[_Row] = []
    above: list[Line] = []  # the last lines that are no rows, without a blank one between
    for line in (*log.printed_lines(), Line(0, "")):
        text = barred(line.text.strip())
        if (rows or above) and text and _SKIPPED.fullmatch(text):
            continue
        row = _row(line, text)
        if rows and (row is None or not _alike(row, rows[-1]) or len(rows) == _MOST):
            reports += _report(log, rows, above)
            rows = []
        if row:
            rows.append(row)
        elif not text or text.startswith("```"):
            above = [Line(line.number, line.text.removeprefix("```"))] if text[3:] else []
        else:
            above = [*above[-1:], line]
    return reports


def _row(line: Line, text: str) -> _Row | None:
    """The label and the numbers of a row; None of another line."""
    if not text or len(text) > _LONGEST or not text[-1:].strip("),"):
        return None
    cells = _RATIO.sub("", text).replace("|", " ").split()
    count = next((at for at, cell in enumerate(cells) if _NUMBER.fullmatch(cell)), len(cells))
    label, numbers = " ".join(cells[:count]), cells[count:]
    if label and not _LABEL.fullmatch(label):
        return None
    is_row = len(numbers) >= _LEAST_NUMBERS and all(map(_NUMBER.fullmatch, numbers))
    return _Row(line.number, label, tuple(numbers), line.text) if is_row else None


def _alike(first: _Row, second: _Row) -> bool:
    return len(first.numbers) == len(second.numbers) and bool(first.label) == bool(second.label)


def _report(log: Log, rows: Sequence[_Row], above: Sequence[Line]) -> Iterator[Report]:
    cells = [cell for row in rows for cell in row.numbers]
    least = _LEAST_OF_WIDE if len(rows[0].numbers) >= _WIDE else _LEAST_ROWS
    if len(rows) < least or not any("." in cell for cell in cells):
        return
    last = above[-1].text if above else ""
    heads = _heads(rows, last) or _counted_heads(rows, last)
    results = list(_of_messages(log, rows)) or list(_numbered(log, rows, heads))
    is_bare = not heads and all(own.statistic == GIVEN for own in results)
    quoted = _quoted(above[:-1] if heads else above)
    if is_bare:
        notes = [_NOTE_ABOVE.format(quoted=quoted)] if quoted else [_NOTE]
    else:
        notes = [_NOTE_OF_HEADS] if heads else []
        if heads and quoted:
            notes.append(f"Above the head of these rows stands {quoted}.")
    yield Report(_HEADED if heads else TOOL, results, rows[0].line, notes=notes)


def _heads(rows: Sequence[_Row], above: str) -> list[str]:
    """What the line above calls columns that all end below its words, as data frames are printed;
    none where a column has no such word."""
    ends = [tuple(word.end() for word in _WORD.finditer(row.text)) for row in rows]
    count = len(rows[0].numbers)
    if len({own[-count:] for own in ends}) > 1 or "|" in above or len(above) > _LONGEST:
        return []
    begins = [0, *ends[0][-count:]]
    above = above.rstrip().rjust(begins[-1])  # it may have lost what stood before its first word
    heads = [above[a:b].strip() for a, b in pairwise(begins)]
    is_ended = all(not above[end : end + 1].strip() for end in begins[1:])
    first = 0 if rows[0].label else 1  # of a data frame the first column has no head
    return heads if is_ended and all(map(_HEAD.fullmatch, heads[first:])) else []


def _counted_heads(rows: Sequence[_Row], above: str) -> list[str]:
    """The words of the line above, where they are as many as the cells of a row; none where one has
    a number."""
    text = barred(above.strip())
    if not text or len(text) > _LONGEST:
        return []
    count = len(rows[0].numbers)
    parts = [part.strip("*`_ ") for part in text.strip("|").split("|")]
    words = parts if "|" in text else text.removeprefix("#").split()
    words = words[1:] if rows[0].label and len(words) == count + 1 else words
    if len(words) != count or not all(map(_HEAD.fullmatch, words)):
        return []
    if "|" not in text and (
        any(word.endswith((".", ":")) or word in _OF_PROSE for word in words)
        or not _stand_above(rows[0], above, count)
    ):
        return []
    several = {word for word in words if words.count(word) > 1}
    return [
        f"{word} (column {at})" if word in several else word for at, word in enumerate(words, 1)
    ]


def _stand_above(row: _Row, above: str, count: int) -> bool:
    """Whether each of the last words above stands above its own number and no other."""
    words = [word.span() for word in _WORD.finditer(above)][-count:]
    cells = [word.span() for word in _WORD.finditer(row.text)][-count:]
    before = [0, *(end for _, end in cells)]
    behind = [*(start for start, _ in cells[1:]), _LONGEST]
    places = zip(words, before, behind, strict=False)
    return all(start < next_cell and end > last for (start, end), last, next_cell in places)


def _quoted(lines: Sequence[Line]) -> str:
    """Lines that may be a head, in quotation marks: they have several words and no sentence."""
    texts = [(line.number, line.text.split()) for line in lines]
    own = [
        (number, " ".join(words))
        for number, words in texts
        if sum(map(bool, map(_NUMBER.fullmatch, words))) < _LEAST_NUMBERS
    ]
    if not own or any(
        len(text) > _LONGEST_QUOTED or text.endswith((".", ":", "?", "!")) or " " not in text
        for _, text in own
    ):
        return ""
    return " and ".join(f"“{text}” (line {number})" for number, text in own)


def _numbered(log: Log, rows: Sequence[_Row], heads: Sequence[str]) -> Iterator[Result]:
    """Each number with its head or the number of its column; the first one is the label of a row
    that has none."""
    for row in rows:
        begin = 0 if row.label else 1
        of: dict[str, Any] = {"label": row.label or row.numbers[0]}
        for at, cell in enumerate(row.numbers[begin:], begin + 1):
            if (value := log.number(cell.rstrip("%"))) is not None:
                unit = "%" if cell.endswith("%") else "1"
                name = heads[at - 1] if heads else f"column {at}"
                yield Result(name, value, unit, row.line, GIVEN, of)


def _of_messages(log: Log, rows: Sequence[_Row]) -> Iterator[Result]:
    """Times and rates of messages, where each row has bytes, repetitions, microseconds, and MB/s or
    MiB/s, which is the first over the third."""
    if any(row.label or len(row.numbers) != _OF_MESSAGES for row in rows):
        return
    values = [[log.number(cell) for cell in row.numbers] for row in rows]
    own = [tuple(cell for cell in each if cell is not None) for each in values]
    own = [each for each in own if len(each) == _OF_MESSAGES]
    unit = next((unit for unit in _PER_MICROSECOND if _fits(rows, own, unit)), "")
    for row, (size, count, time, rate) in zip(rows, own, strict=True) if unit else ():
        of = {"message_bytes": int(size), "repetitions": int(count)}
        yield Result("time", time, "us", row.line, "", of)
        yield Result("rate", rate, unit, row.line, "", of)


_PER_MICROSECOND = {"MB/s": 1.0, "MiB/s": 1 / 1.048576}


def _fits(rows: Sequence[_Row], values: Sequence[tuple[float, ...]], unit: str) -> bool:
    """Whether the rate of each row follows from its bytes and time, as far as they are printed."""
    if len(values) != len(rows):
        return False
    known = 0
    for row, (size, count, time, rate) in zip(rows, values, strict=True):
        if size == 0 or rate == 0 or time <= 0:
            continue
        made = size / time * _PER_MICROSECOND[unit]
        slack = half_digit(row.numbers[3]) + made * half_digit(row.numbers[2]) / time
        if abs(made - rate) > 1.01 * slack or count != int(count) or size != int(size):
            return False
        known += made > 10 * slack
    return known >= _LEAST_ROWS

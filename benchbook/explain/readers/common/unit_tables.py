"""Tables of figures with units that no reader knows: in Markdown, as CSV, and in aligned columns.

They are read where nothing else was recognised. A column counts if its head or its cells name a
unit; what has none is a label of the row. table_columns.py has what columns are of.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence, Set

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.bars import BARS, barred
from benchbook.explain.readers.common.table_cells import CELL, figures_of
from benchbook.explain.readers.common.table_columns import (
    LEAST_COLUMNS,
    LONGEST_LABEL,
    UNITS,
    columns,
    counted,
    names_unit,
    unit_of,
)
from benchbook.explain.readers.common.table_runs import (
    COMPARING,
    in_columns,
    in_rows,
    with_bare_rows,
)

TOOL = "table"
LOOKS_FOR = (
    "tables of Markdown, CSV or aligned columns whose heads or cells have units: `| time (ms) |`"
)
_OF_START = late(
    r"^(?:ggml|llama|load|build|main)[_:]|^Device \d+:"
)  # what a program says as it starts
_SECTION = late(r"^[#>*\s]*(?P<text>[^`|<>#*\s][^|<>]{0,79}?)[`:*\s]*$")
_BREAK = late(r" *<br */?> *", re.I)
_DASHES = late(r"[-=+\u2500]{10,400}")
_GRID = late(r"\+(?:[-=]{2,200}\+{1,2}){2,40}")  # a rule of a table that is drawn with + and -
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
# Thousands that a space parts: what may be two figures next to each other is none.
_GROUPED = late(r"\d{1,2}(?: \d{3})+(?:\.\d+)?|\d{3}(?: \d{3})+\.\d+|\d{3}(?: \d{3}){2,}")
_MARKS_BEHIND = " !*<\u2190\t"  # with which somebody points at a row
_LEAST_ROWS, _LEAST_UNRULED = 2, 3
_LEAST_FIGURES = 2  # of a table of one row
_MOST_WORDS = 4  # of a title that ends with a colon below another line
_LEAST_CELLS = 3  # of a table of bars without a rule
# Columns of nvidia-smi, which device_states.py reads.
_OF_DRIVER = late(
    r"\b(?:utilization\.gpu|power\.draw|temperature\.gpu|clocks\.(?:current\.)?(?:sm|mem|gr))\b"
)
_GAP = late(r"\s{2,}|\t+")
_HAS_DIGIT = late(r"\d")
_OWN_NUMBER = late(r"(?<![\w.])\d")  # p99 is none
_UNIT_AT_END = late(r"(?P<gap>\s{2,9})[\[(][\w/]{1,9}[\])]$")
_BETTER = late(r":? ?\([^()]{0,20}\bis better\)")  # behind a head
# The head of changes, which are all that a table of two columns may have.
_CHANGED = late(r"(?i)^(?:delta|change|diff(?:erence)?|improvement|gain|regression)\b.*%")
_OF_FIGURES = late(r"(?i)\b(?:bandwidth|rate|time|latency|throughput|speed)\b")


def read(log: Log) -> list[Report]:
    """One report for each table."""
    reports = [*_markdown(log), *_separated(log)]
    taken = {own.line for report in reports for own in report.results}
    for report in _aligned(log):  # tabs part columns as well
        if taken.isdisjoint(own.line for own in report.results):
            reports.append(report)
    return reports


def _markdown(log: Log) -> Iterator[Report]:
    """Tables with bars, whose second line is a rule, or whose rows are all alike."""
    table: list[tuple[Line, list[str]]] = []
    is_ruled, title, section, was_blank = False, "", "", True
    if not any(map(log.has, BARS)):
        return
    for line in (*log.printed_lines(), Line(0, "")):
        text = barred(line.text.strip())
        if _GRID.fullmatch(text):
            is_ruled = is_ruled or len(table) == 1
            continue
        if len(table) == 1 and not is_ruled and _DASHES.fullmatch(text):
            is_ruled = True  # a rule without bars, as some programs draw it
            continue
        if text.count("|") >= LEAST_COLUMNS - 1 and len(text) <= LONGEST and text:
            if not is_ruled and _RULE.fullmatch(text) and "|" in text:
                table, is_ruled = table[-1:], bool(table)
            else:
                table.append((line, [_bare(cell) for cell in text.strip("|").split("|")]))
            continue
        table = _aligned_heads(table)
        if is_ruled or _is_unruled(table, title):
            yield from _report(log, table, title, section)
            section = ""
        if text:
            headed = _SECTION.match(text) if len(text) < 2 * LONGEST_LABEL else None
            is_title = headed is not None and not _OF_START.match(text)
            # The end of a wrapped sentence is no title.
            is_short = text.endswith(":") and len(text.split()) <= _MOST_WORDS
            is_alone = was_blank or is_short or text.startswith(("#", "*", ">"))
            section = (headed["text"] if is_alone else "") if headed and is_title else section
            may_name = len(text) <= LONGEST and ("in " in text or "(" in text)
            titled = _IN_TITLE.search(text) if may_name else None
            unit = titled["unit"].removesuffix("ec") if titled else ""
            title = _IN_WORDS.get(unit.lower(), unit)
        was_blank = not text or text.startswith("```")
        table, is_ruled = [], False


def _aligned_heads(table: list[tuple[Line, list[str]]]) -> list[tuple[Line, list[str]]]:
    """The table, with heads that lost the empty one of the first column and got one at the end."""
    if len(table) < _LEAST_ROWS or not (heads := table[0][1]) or heads[-1] or not heads[0]:
        return table
    rows = [cells for _, cells in table[1:]]
    is_shifted = all(
        len(cells) == len(heads) and cells[-1] and not _HAS_DIGIT.search(cells[0]) for cells in rows
    )
    if not is_shifted or (not unit_of(heads[0]) and not _OF_FIGURES.search(heads[0])):
        return table
    return [(table[0][0], ["", *heads[:-1]]), *table[1:]]


def _is_unruled(table: Sequence[tuple[Line, list[str]]], title: str) -> bool:
    """Whether lines with bars and no rule are a table: heads without numbers, and several rows of
    as many cells, of which somebody names a unit."""
    if len(table) <= _LEAST_UNRULED:
        return False
    heads = table[0][1]
    alike = all(len(cells) == len(heads) for _, cells in table)
    has_unit = bool(title) or any(map(unit_of, heads))
    words = not any(CELL.fullmatch(head) for head in heads)
    return alike and has_unit and words and len(heads) >= _LEAST_CELLS


def _aligned(log: Log) -> Iterator[Report]:
    """Columns that are parted by spaces, below heads without numbers of which one has a unit, or
    counts threads next to a time."""
    table: list[tuple[Line, list[str]]] = []
    for line, may_head in (*log.marked(_may_head), (Line(0, ""), False)):
        if not (table or may_head):
            continue
        text = line.text.strip()
        if table and text and not text.strip("-=_\u2500\u2501\u2550 \t"):
            continue
        if table and text:
            own, heads = text.rstrip(_MARKS_BEHIND), table[0][1]
            cells = [_bare(cell) for cell in _GAP.split(own)]
            if len(table) == 1 and len(cells) == len(heads) + 1 and _is_labelled(cells):
                heads = ["", *heads]  # the first column has no head
                table = [(table[0][0], heads)]
            if len(cells) != len(heads):
                cells = own.split()
            is_row = len(cells) == len(heads)
            figures = sum(bool(CELL.fullmatch(cell)) for cell in cells)
            is_pair = is_row and len(cells) == LEAST_COLUMNS and _CHANGED.search(heads[-1])
            if is_row and (figures * 2 > len(cells) or (is_pair and figures)):
                table.append((line, cells))
                continue
        if len(table) > (_LEAST_UNRULED if table and not _has_units(table[0][1]) else 1):
            yield from _report(log, table)
        table = [(line, heads)] if may_head and (heads := _heads(text)) else []


def _is_labelled(cells: Sequence[str]) -> bool:
    """Whether a row begins with a word, and all others of its cells are figures."""
    return cells[0].isidentifier() and all(map(CELL.fullmatch, cells[1:]))


def _may_head(text: str) -> bool:
    return bool(_heads(text.strip()))


def _has_units(heads: Sequence[str]) -> bool:
    """Whether two heads and more have units in brackets, which nothing else has."""
    return sum(bool(unit_of(head)) and head.endswith((")", "]")) for head in heads) > 1


def _heads(text: str) -> list[str]:
    """The heads of aligned columns in a line; none where it has no such."""
    if not text or "|" in text or len(text) > LONGEST or _OWN_NUMBER.search(text):
        return []
    text = _BETTER.sub("", text)
    text = _joined(text)
    for heads in (_GAP.split(text), text.split()):
        if len(heads) < LEAST_COLUMNS:
            continue
        own = [_bare(head) for head in heads]
        # A line of units alone stands below names that are known to its tool.
        is_of_units = any(own.count(head) > 1 for head in own if head in UNITS)
        if any(head.count("(") > 1 for head in own):
            continue  # several heads with one blank between them
        if any(map(unit_of, own)) and not is_of_units:
            return own
        of = columns(own, []) if any(map(counted, own)) else []
        if any(column.bare_unit for column in of):
            return own
    return []


def _joined(text: str) -> str:
    """The heads with a unit in brackets at the end put to its head, if it stands nearer to it than
    the heads to each other."""
    if (apart := _UNIT_AT_END.search(text)) and "\t" not in text:
        begin, end = apart.span("gap")
        others = [found.end() - found.start() for found in _GAP.finditer(text[:begin])]
        if others and min(others) > end - begin:
            return f"{text[:begin]} {text[end:]}"
    return text


def _bare(cell: str) -> str:
    if cell.isalnum():
        return cell
    text = _BREAK.sub(" ", cell) if "<" in cell else cell
    plain = " ".join(text.strip().strip("*`_").split())
    return plain.replace(" ", "") if _GROUPED.fullmatch(plain) else plain


def _separated(log: Log) -> Iterator[Report]:
    """Lines that are parted alike, below one that names units."""
    table: list[tuple[Line, list[str]]] = []
    separator = ""
    for line, may_head in (*log.marked(_separated_heads), (Line(0, ""), False)):
        if not (table or may_head):
            continue
        text = line.text.strip()
        if table and separator in text:
            cells = next(csv.reader([text], delimiter=separator), [])
            if len(cells) == len(table[0][1]):
                table.append((line, [_bare(cell) for cell in cells]))
                continue
        if table:
            yield from _report(log, table)
        separator, heads = _separated_heads(text) or ("", [])
        table = [(line, heads)] if heads else []


def _separated_heads(line: str) -> tuple[str, list[str]] | None:
    """What parts the heads of a line, and these; None where it has no such."""
    text = line.strip()
    if "|" in text or _OF_DRIVER.search(text[:LONGEST]):
        return None
    for mark in (own for own in _SEPARATORS if own in text):
        parts = next(csv.reader([text], delimiter=mark), []) if '"' in text else text.split(mark)
        cells = [_bare(cell) for cell in parts]
        is_head = len(cells) >= LEAST_COLUMNS and not any(map(CELL.fullmatch, cells))
        if is_head and _is_of_figures(cells):
            return mark, cells
    return None


def _is_of_figures(heads: Sequence[str]) -> bool:
    """Whether heads name a unit, or times by the number of threads."""
    if any(map(names_unit, heads)):
        return True
    is_counted = any(map(counted, heads))
    return is_counted and any(column.bare_unit for column in columns(heads, []))


_ERRORS = late(
    r"(?i)(?:#|total|number of|no\.? of)? ?(?:errors|failed|failures|failed requests|timeouts"
    r"|dropped|dropped packets|lost packets|retransmits|retries)"
)


def _errors(
    heads: Sequence[str], rows: Sequence[tuple[Line, list[str]]], of_figures: Set[int]
) -> Iterator[Result]:
    """What columns count as failed, in rows that have figures."""
    places = [at for at, head in enumerate(heads) if _ERRORS.fullmatch(head.strip(" :"))]
    for line, cells in rows if places else ():
        for at in places:
            cell = cells[at].replace(",", "") if at < len(cells) else ""
            if line.number in of_figures and cell.isdecimal() and len(cell) < 16:
                of = {"label": cells[0]} if cells[0] and at else {}
                yield Result(heads[at].strip(" :"), float(cell), "errors", line.number, "count", of)


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
        result for line, cells in rows for result in figures_of(log, line, cells, of_columns, title)
    ]
    # A single row is a table only where it has several figures.
    if len(table) == _LEAST_ROWS and len(results) < _LEAST_FIGURES:
        return
    results = list(in_columns(heads, rows, in_rows(table, results)))
    results = with_bare_rows(log, heads, rows, results)
    is_of_changes = len(heads) == LEAST_COLUMNS and bool(_CHANGED.search(heads[-1]))
    if is_of_changes and len(rows) > _LEAST_ROWS and results:
        yield Report(TOOL, results, head_line.number)
    elif any(result.statistic not in COMPARING for result in results):
        results += _errors(heads, rows, {result.line for result in results})
        facts = {"section": section} if section else {}
        yield Report(TOOL, results, head_line.number, "", facts)

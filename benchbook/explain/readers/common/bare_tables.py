"""Tables of numbers that name no unit anywhere, of which a head speaks of time or speed: `rps,p99`.

They are read where nothing else was recognised. Their numbers are shown as they stand: nobody knows
what they count, so no rule judges them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.bars import barred
from benchbook.explain.results import GIVEN

TOOL = "table without units"
LOOKS_FOR = (
    "tables of CSV, Markdown or columns with numbers below `throughput`, `latency`, `rps`, or "
    "below `before` and `after`, `mean` and `p99`"
)
_OF_SPEED = late(
    r"\brtt|laten|throughput|bandwidth|\b[rtq]ps\b|\bops\b|op/s|\btimes?\b|time$|duration|elapsed"
    r"|runtime|speed-?up|\bscore\b|memcpy|memset|\bmips\b|[07]-?zip|gemm|gflops|mflops|\bcycles\b"
    r"|\bfps\b|nanotime|\bns\b|\bms\b|iops"
    r"|\bn?[ot]pmc?\b",
    re.I,
)
# Two sides of a comparison, what they differ by, and statistics.
_SIDES = frozenset(
    ("before", "after", "baseline", "old", "new", "base", "patched", "master", "main")
)
_DIFFERENCES = frozenset(
    ("ratio", "change", "delta", "diff", "difference", "improvement", "speedup")
)
_STATISTICS = frozenset(
    (
        "mean",
        "median",
        "avg",
        "average",
        "stddev",
        "stdev",
        "std",
        "p50",
        "p90",
        "p95",
        "p99",
        "p999",
    )
)
# Kinds of lines have zeros for digits.
_WORDS = (*_SIDES, *_DIFFERENCES, *_STATISTICS, "p00", "p000")
_COMPARED = late(rf"(?i)\b(?:{'|'.join(_WORDS)})\b")
# What pull requests compare as well, and is no figure of a run.
_NO_RUN = late(r"(?i)\b(?:coverage|bundle|lines of code|commits|stars|downloads|tests?|files)\b")
_TITLE = late(
    r"(?i)\b(?:higher|lower|more|less|smaller|larger|bigger) is better\b"
    r"|\bper (?:milli|micro)?second\b|\b(?:throughput|latency|bandwidth)\b[^.]{0,40}:$"
)
_NEAR = 2  # lines between a title and its table
_MOST_WORDS = 5  # of a head
_NUMBER = late(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?: ?[x×%])?")
_RULE = late(r"[|:+=\s-]*[-=][|:+=\s-]*")
_GAP = late(r"\s{2,}|\t+")
_MARKS = ("|", ",", ";", "\t")
_LEAST_COLUMNS, _LEAST_ROWS, _LONGEST, _MOST = 3, 2, 1000, 5000


def read(log: Log) -> list[Report]:
    """One report for each table."""
    reports: list[Report] = []
    heads: list[str] = []
    mark, begin = "", 0
    title, is_titled = -_NEAR - 1, False  # the last line that says what numbers are
    rows: list[tuple[Line, list[str]]] = []
    for line, may_matter in (*log.marked(_may_matter), (Line(0, ""), False)):
        if not (heads or may_matter):
            continue
        text = barred(line.text.strip())
        if heads and text and _RULE.fullmatch(text):
            continue
        if heads and not text and not rows and line.number == begin + 1:
            continue  # one blank line below the head
        cells = _cells(text, mark) if heads else []
        if heads and _is_row(cells, heads) and len(rows) < _MOST:
            rows.append((line, cells))
            continue
        reports += _report(log, begin, heads, rows, is_titled=is_titled)
        is_titled = line.number - title <= _NEAR
        mark, heads = _head(text, is_titled) if may_matter else ("", [])
        rows, begin = [], line.number
        if not heads and may_matter and _TITLE.search(text):
            title = line.number
    return reports


def _head(text: str, is_titled: bool) -> tuple[str, list[str]]:
    """How the heads of a table are parted, and the heads; none where a line is no such.
    `is_titled`: whether the words above say what its numbers are, which counts for Markdown."""
    is_titled = is_titled and text.startswith("|")
    if not text or len(text) > _LONGEST or not (is_titled or _may_head(text)):
        return "", []
    for mark in (*_MARKS, ""):
        heads = _cells(text, mark)
        is_words = not _NUMBER.fullmatch(heads[0]) if heads else False
        is_head = len(heads) >= _LEAST_COLUMNS and is_words and len(heads) == len(set(heads))
        if is_head and (is_titled or any(map(_is_of_speed, heads)) or _compares(heads)):
            return mark, heads
    return "", []


def _may_matter(text: str) -> bool:
    """Whether a line may be a head or a title."""
    return _may_head(text) or text.lstrip().startswith("|") or bool(_TITLE.search(text))


def _may_head(text: str) -> bool:
    """Whether a line has several parts, and words of time or speed."""
    gaps = text.count("  ") + text.count("\t")
    is_parted = gaps > 1 or max(map(text.count, "|,;")) > 1 or not text.isascii()
    return is_parted and _says_speed(text)


def _says_speed(text: str) -> bool:
    return bool(_OF_SPEED.search(text)) or len(_COMPARED.findall(text)) > 1


def _is_of_speed(head: str) -> bool:
    return len(head.split()) < _MOST_WORDS and bool(_OF_SPEED.search(head))


def _compares(heads: Sequence[str]) -> bool:
    """Whether columns are two sides and what they differ by, or statistics of several runs."""
    words = {word.lower() for head in heads for word in _COMPARED.findall(head)}
    return (
        len(words & _SIDES) > 1
        or len(words & _STATISTICS) > 1
        or bool(words & _SIDES and words & _DIFFERENCES)
    )


def _cells(text: str, mark: str) -> list[str]:
    if len(text) > _LONGEST:
        return []
    if mark == "|":
        own = text.strip("|").split("|")
    elif mark in (",", ";", "\t") and mark:
        own = next(csv.reader([text], delimiter=mark), [])
    else:
        own = _GAP.split(text)
    return [cell.strip().strip("*`_").strip() for cell in own]


def _is_row(cells: Sequence[str], heads: Sequence[str]) -> bool:
    numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in cells)
    return len(cells) == len(heads) and numbers * 2 >= len(cells) and numbers > 1


def _report(
    log: Log,
    begin: int,
    heads: Sequence[str],
    rows: Sequence[tuple[Line, list[str]]],
    *,
    is_titled: bool,
) -> list[Report]:
    if len(rows) < _LEAST_ROWS:
        return []
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    is_number = [all(not cell or _NUMBER.fullmatch(cell) for cell in own) for own in columns]
    of_numbers = [head for kind, head in zip(is_number, heads, strict=True) if kind]
    if not is_titled and not any(map(_OF_SPEED.search, of_numbers)):
        of_words = [
            cell for kind, own in zip(is_number, columns, strict=True) if not kind for cell in own
        ]
        if not _compares(of_numbers) or any(map(_NO_RUN.search, (*heads, *of_words))):
            return []
    results: list[Result] = []
    for line, cells in rows:
        label = " ".join(
            cell for cell, kind in zip(cells, is_number, strict=True) if cell and not kind
        )
        of: dict[str, Any] = {"label": label} if label else {}
        for head, cell, kind in zip(heads, cells, is_number, strict=True):
            value = log.number(cell.rstrip("x×% ")) if kind and cell else None
            if value is not None:
                results.append(Result(head or "value", value, "1", line.number, GIVEN, of))
    note = (
        f"No unit was read for the columns of figures in the table from line {begin}. "
        "They are shown as they stand."
    )
    return [Report(TOOL, results, begin, notes=[note])]

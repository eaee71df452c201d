"""Figures in sentences that say with how many GPUs they were made: `on 4 GPUs a batch takes
2.3 s, on one 0.48 s`.

They are read where nothing else was recognised, and only where they are of two numbers of devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.table_columns import UNITS

TOOL = "text"
LOOKS_FOR = "sentences with figures by devices: `with 4 GPUs one batch takes 2.3 s`"
_MORE_UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "s": "s", "milliseconds": "ms", "minutes": "min",
    "samples/sec": "samples/s", "samples/s": "samples/s", "images/sec": "images/s",
    "images/s": "images/s", "img/s": "images/s", "it/s": "iterations/s", "tok/s": "tokens/s",
    "tokens/s": "tokens/s", "t/s": "tokens/s",
}  # fmt: skip
_UNITS = {unit: own for unit, own in (UNITS | _MORE_UNITS).items() if unit != "%"}
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_NUMBERS = {"one": 1, "a single": 1, "single": 1, "two": 2, "both": 2, "four": 4, "eight": 8}
_PART = late(
    rf"(?P<count>\b(?:\d{{1,3}}|{'|'.join(_NUMBERS)})(?: ?x)? ?(?:NVIDIA |AMD )?"
    r"(?:GPUs?|devices?|cards?)\b"
    r"|\bnGPUs? ?= ?\d{1,3}\b)"
    rf"|(?<![\w.,/:-])~?(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{_UNIT})(?![\w/])",
    re.I,
)
_DIGITS = late(r"\d{1,3}")
_SENTENCE = late(r"(?<=[.!?;])\s+")
_WORDS = ("GPU", "gpu", "device", "card")
_LONGEST, _MOST = 1500, 60  # characters of a line; figures


def read(log: Log) -> list[Report]:
    """One report of all such figures, where they are of two numbers of devices and one unit."""
    results: list[Result] = []
    for line in log.with_figures(_figures) if any(map(log.has, _WORDS)) else ():
        results += _figures(log, line)
        if len(results) >= _MOST:
            break
    counts = {own.of["devices"] for own in results}
    units = {own.unit for own in results}
    return [Report(TOOL, results, results[0].line)] if len(counts) > 1 and len(units) == 1 else []


def _figures(log: Log, line: Line) -> Iterator[Result]:
    """The figures of sentences in which numbers of devices and figures come in turns."""
    if len(line.text) > _LONGEST or not any(word in line.text for word in _WORDS):
        return
    for sentence in _SENTENCE.split(line.text):
        parts = list(_PART.finditer(sentence))
        counts = [part["count"] for part in parts[::2]]
        figures = parts[1::2]
        if any(part["count"] for part in figures):  # the figure before its number of devices
            counts, figures = [part["count"] for part in parts[1::2]], parts[::2]
        if (
            len(counts) != len(figures)
            or not all(counts)
            or not all(own["unit"] for own in figures)
        ):
            continue
        for count, figure in zip(counts, figures, strict=True):
            value = log.number(figure["value"])
            if value is not None:
                unit = _UNITS.get(figure["unit"]) or _UNITS[figure["unit"].lower()]
                of = {"devices": _number(count)}
                yield Result("figure", value, unit, line.number, "", of)


def _number(text: str) -> int:
    if found := _DIGITS.search(text):
        return int(found[0])
    lower = text.lower()
    return next(count for word, count in _NUMBERS.items() if lower.startswith(word))

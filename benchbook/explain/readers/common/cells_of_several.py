"""Cells of a table that have several figures: `58.3k req/s (p50 17 us / p99 34 us)`,
`min/avg/max = 55/68/91 us`."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Result
from benchbook.explain.readers.common.table_columns import UNIT, UNITS, name_of
from benchbook.explain.units import TIMES

_NUMBER = r"\d[\d,]{0,20}(?:\.\d{1,9})?"
_STATISTIC = r"(?:p\d{2}(?:\.\d{1,3})?|min|max|avg|mean|median|med)"
_FIRST = late(rf"^(?P<value>{_NUMBER})(?P<short>[kKM]?) ?(?P<unit>{UNIT})(?=[\s*,;(]|$)")
_PAIR = late(rf"\b(?P<what>{_STATISTIC})\b ?[:=]? ?(?P<value>{_NUMBER}) ?(?P<unit>{UNIT})(?![\w/])")
_SLASHED = late(
    rf"(?P<what>{_STATISTIC}(?:/{_STATISTIC}){{1,4}}) ?[:=]? ?"
    rf"(?P<values>{_NUMBER}(?:/{_NUMBER}){{1,4}}) ?(?P<unit>{UNIT})(?![\w/])"
)
_SHORT = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
_NAMES = {"avg": "mean", "med": "median"}
_LEAST, _LONGEST = 2, 300


def figures_of(line: Line, head: str, cell: str) -> Iterator[Result]:
    """The figures of such a cell; none where it has fewer than two with the name of a statistic."""
    if len(cell) > _LONGEST:
        return
    own = [
        (found["what"], found["value"], found["unit"])
        for found in _PAIR.finditer(cell)
        if found["unit"] in UNITS
    ]
    for found in _SLASHED.finditer(cell):
        names, values = found["what"].split("/"), found["values"].split("/")
        if len(names) == len(values):
            own += [(name, value, found["unit"]) for name, value in zip(names, values, strict=True)]
    if len(own) < _LEAST:
        return
    first = _FIRST.match(cell)
    if first and first["unit"] in UNITS:
        value = float(first["value"].replace(",", "")) * _SHORT[first["short"]]
        yield Result(name_of(head), value, UNITS[first["unit"]], line.number)
    for what, text, unit in own:
        called = "time" if UNITS[unit] in TIMES else name_of(head)
        value = float(text.replace(",", ""))
        yield Result(called, value, UNITS[unit], line.number, _NAMES.get(what, what))

"""Which rows of a long table are shown: sums, what a finding names, the extremes, both ends."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from benchbook.core import number_format
from benchbook.explain.figures.cells import unit_words
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Result
from benchbook.explain.units import in_base
from benchbook.findings import Finding

_FIRST, _LAST = 4, 3  # rows at both ends
_MOST_MARKED = 12  # rows that findings name
_FEW_MORE = 1.5
_SHOWN_OF_MANY = 24  # rows of a table of hundreds, of which others show nothing new
_TOTAL = late(
    r"^\W*(?:sum|totals?|overall|all|average|avg|mean|geo(?:metric)?[ -]?mean|summary)\b", re.I
)
_LINES = late(r"^lines? (?P<first>\d+)")
_OF_MANY = ("sum", "total", "mean of all")


@dataclass(frozen=True)
class FigureRow:
    """A row: what it is of, in words, and its figures by column; None where it has none."""

    labels: list[str]
    results: list[Result | None]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the log that it is of."""
        numbers = [result.line for result in self.results if result]
        return min(numbers), max(numbers)

    @property
    def is_total(self) -> bool:
        """Whether it sums up others."""
        return any(_TOTAL.match(label[:40]) for label in self.labels) or any(
            result.statistic in _OF_MANY or result.of.get("stream") == SUM
            for result in self.results
            if result
        )


def named_lines(findings: Iterable[Finding]) -> frozenset[int]:
    """The lines that findings name."""
    found = [_LINES.match(place) for finding in findings for place in finding.where]
    return frozenset(int(match["first"]) for match in found if match)


def chosen(rows: Sequence[FigureRow], most: int, marked: Collection[int]) -> list[int]:
    """The places of the rows that are shown, in their order: all where they are not many more than
    `most`, otherwise at most so many."""
    if len(rows) <= most * _FEW_MORE:
        return list(range(len(rows)))
    ends = [*range(_FIRST), *range(len(rows) - _LAST, len(rows))]
    totals = [at for at, row in enumerate(rows) if row.is_total]
    named = [at for at, row in enumerate(rows) if row.lines[0] in marked][:_MOST_MARKED]
    kept = dict.fromkeys([*ends, *_extremes(rows), *totals[-most // 2 :], *named, *totals])
    shown = list(kept)[:most]
    step = len(rows) / (_SHOWN_OF_MANY + 1)
    between = (int(number * step) for number in range(1, _SHOWN_OF_MANY + 1))
    shown += [at for at in between if at not in kept][: max(0, _SHOWN_OF_MANY - len(shown))]
    return sorted(shown)


def _extremes(rows: Sequence[FigureRow]) -> list[int]:
    """The rows with the least and the most of each column."""
    places: list[int] = []
    for column in range(len(rows[0].results)):
        values = [
            (result.base_value, at)
            for at, row in enumerate(rows)
            if (result := row.results[column]) and is_number(result.value)
        ]
        if values:
            places += [min(values)[1], max(values, key=lambda pair: (pair[0], -pair[1]))[1]]
    return places


def spans(rows: Sequence[FigureRow]) -> list[list[str]]:
    """The least, the median and the most of each column of all rows: three lists of words, in the
    unit that most of the column have."""
    columns: list[tuple[str, str, str]] = []
    for column in range(len(rows[0].results)):
        own = [result for row in rows if (result := row.results[column])]
        values = sorted(result.base_value for result in own if is_number(result.value))
        if not values:
            columns.append(("", "", ""))
            continue
        units = Counter(result.unit for result in own)
        unit = units.most_common(1)[0][0]
        size = in_base(1.0, unit)[0]
        behind = f" {unit_words(unit)}" if len(units) > 1 else ""
        ends = (values[0], statistics.median(values), values[-1])
        least, middle, most = (number_format.number(end / size) + behind for end in ends)
        columns.append((least, middle, most))
    return [list(span) for span in zip(*columns, strict=True)]

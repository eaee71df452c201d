"""Charts that are HTML: a table whose rows share one axis, with marks placed in percent of it.

A chart is as wide as its column on every screen, its labels are cells of the table and never lie
on one another, and its values are read on hover and keyboard focus without a script.
templates/parts/chart.html.j2 draws it; pictures for files are drawn by `plots`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.report.plots.palette import INK
from benchbook.report.plots.style import tick_label, ticks

LOG_FROM = 3  # largest ÷ smallest value, from which an axis is one of logarithms
MOST_TICKS = 5
ROW_PX, TALL_PX = 25, 52  # heights of a row, among many and of few
APART_PX = 5  # what is published and what was measured here lie that far off a row's middle
ROOM = 0.04  # of the axis, left free at either end
LETTER, GAP = 2.6, 2.0  # percent of a narrow axis that a digit takes, and between two numbers
MOST_RUNS = 60  # single runs drawn of one row; of more every n-th


@dataclass(frozen=True)
class Tick:
    """A number at `x` percent of an axis, moved left by `shift` percent of its own width, so that
    it begins at `left`."""

    x: float
    text: str
    shift: int
    left: float

    @property
    def right(self) -> float:
        """Where it ends, in percent of the axis."""
        return self.left + LETTER * len(self.text)


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`; `at` places a value on it."""

    low: float
    high: float
    log: bool

    def at(self, value: float | None) -> float:
        """Percent of the axis' width; beyond an end, and for None, the end itself."""
        if value is None:
            return 0.0
        low, high, there = (self._place(number) for number in (self.low, self.high, value))
        return round(min(max(100 * (there - low) / (high - low or 1), 0.0), 100.0), 2)

    def open_below(self, value: float | None) -> bool:
        """Whether an interval that begins at `value` (None: nowhere) goes on left of the axis."""
        return value is None or self._is_before(value, self.low)

    def open_above(self, value: float | None) -> bool:
        """Whether an interval that ends at `value` (None: nowhere) goes on right of the axis."""
        return value is None or self._is_before(self.high, value)

    def _is_before(self, first: float, second: float) -> bool:
        return self._place(first) < self._place(second) - 1e-9

    def _place(self, value: float) -> float:
        return math.log(max(value, 1e-300)) if self.log else value

    @property
    def ticks(self) -> list[Tick]:
        """Its ticks; no two are too near for their numbers."""
        if self.log:
            numbers = ticks(self.low, self.high, MOST_TICKS)
        else:
            step = _round_step((self.high - self.low) / MOST_TICKS)
            first = math.ceil(self.low / step - 1e-9)
            numbers = [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
        kept: list[Tick] = []
        for tick in (_tick(self.at(number), tick_label(number)) for number in sorted(numbers)):
            if not kept or tick.left >= kept[-1].right + GAP:
                kept.append(tick)
        return kept


def _tick(x: float, text: str) -> Tick:
    """A tick whose number stands below it, but never beyond the ends of the axis."""
    wide = LETTER * len(text)
    share = min(max(0.5, 1 - (100 - x) / wide), x / wide)
    return Tick(x, text, round(100 * share), x - share * wide)


def _round_step(least: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def scale_of(values: Iterable[float | None], *, ratio: bool = False, zero: bool = False) -> Scale:
    """An axis that holds all the values; `ratio`: 1 is on it, `zero`: it begins at 0."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    positive = [value for value in finite if value > 0]
    if ratio:
        positive.append(1.0)
    if zero or not positive or any(value < 0 or (value == 0 and not ratio) for value in finite):
        low, high = min([0.0, *finite]), max([*finite, 0.0]) or 1.0
        return Scale(low, high + ROOM * (high - low), log=False)
    low, high = min(positive), max(positive)
    if ratio or high > LOG_FROM * low:
        room = max((high / low) ** ROOM, 1.02)
        return Scale(low / room, high * room, log=True)
    return Scale(0.0, high * (1 + ROOM), log=False)


@dataclass(frozen=True)
class Row:
    """A row of a chart: what is published, what was measured here, and what its cells say.

    `low` and `high` are the ends of an interval, None where it is open; `runs` are (value, whether
    other programs disturbed it) of single runs; `bounds` is a region to shade; `cells` are the
    texts of the chart's columns; `marks` are marks of findings.
    """

    label: str
    published: Sequence[float] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: Sequence[tuple[float, bool]] = ()
    bounds: tuple[float | None, float | None] | None = None
    bar: tuple[float, float] | None = None
    imported: Sequence[float] = ()
    cells: Sequence[str] = ()
    marks: Sequence[Any] = ()
    note: str = ""
    colour: str = INK
    hollow: bool = False
    tip: str = ""

    def values(self) -> list[float | None]:
        """All that the axis has to hold."""
        ends = [end for end in (self.low, self.high) if end is None or math.isfinite(end)]
        runs = [value for value, _ in self.runs]
        bounds = [end for end in self.bounds or () if end is not None]
        return [
            *self.published, *self.imported, self.value, *ends, *runs, *bounds, *(self.bar or ())
        ]  # fmt: skip

    def middle(self, height: int) -> float:
        """How far below its top the marks of what was measured here are centred, in pixels. What is
        published stands above them, so that neither covers the other."""
        return height / 2 if self.bar or not self.published else height / 2 + APART_PX

    def published_at(self, height: int) -> float:
        """How far below the row's top the published values are centred, in pixels."""
        measured = self.value is not None or self.runs
        return height / 2 if self.bar or not measured else height / 2 - APART_PX

    @property
    def runs_shown(self) -> Sequence[tuple[float, bool]]:
        """The single runs that are drawn."""
        return self.runs[:: math.ceil(len(self.runs) / MOST_RUNS)] if self.runs else []


@dataclass(frozen=True)
class Chart:
    """Rows on one axis; `unit` names what the axis counts, `columns` what their cells say."""

    unit: str
    columns: Sequence[str]
    rows: Sequence[Row]
    scale: Scale
    one: bool = False
    label: str = ""
    words: str = ""
    height: int = ROW_PX


def chart(
    unit: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    ratio: bool = False,
    zero: bool = False,
    label: str = "",
    words: str = "",
    height: int = ROW_PX,
) -> Chart:
    """A chart whose axis fits its rows; `words` is its text alternative, `height` that of a row in
    pixels."""
    values = [value for row in rows for value in row.values()]
    scale = scale_of(values, ratio=ratio, zero=zero)
    return Chart(unit, columns, rows, scale, ratio, label, words, height)

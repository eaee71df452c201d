"""The picture of a pointer chase: ns per load by working set, stated caches, where it rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchbook.core.sizes import format_bytes
from benchbook.report.plots.palette import FAINT, GREY, INK
from benchbook.report.plots.style import (
    Picture,
    as_picture,
    drawing,
    finite,
    logarithmic,
    shortened,
    spread,
    within,
)

TALL_IN = 3.4
ROWS = (0.02, 0.08, 0.14)  # above the axes, where stated caches are named
ROW_PT = 10
CHARACTER = 0.026  # of the width of the axes
LABEL = 12  # characters right of the picture
FOOT = 1.4  # times below the fastest load, for the factors of the rises
TICK_FACTOR, MOST_TICKS = 4, 5  # from one size on the axis to the next, or a power of it


@dataclass(frozen=True)
class Load:
    """One working set in bytes, ns per load with its interval, and the span of the samples."""

    size: int
    ns: float
    low: float | None
    high: float | None
    p10: float | None
    p90: float | None


@dataclass(frozen=True)
class Line:
    """The loads of one setting; the `main` line is thick, and the rises drawn belong to it."""

    label: str
    colour: str
    loads: Sequence[Load]
    main: bool = False


@dataclass(frozen=True)
class Step:
    """Between which sizes the time rises, and by how much as text."""

    low: float
    high: float
    text: str


def chase(
    name: str, alt: str, lines: Sequence[Line], caches: dict[str, int], steps: Sequence[Step]
) -> Picture | None:
    """ns per load by working set, both axes of logarithms; None without a line of two sizes.

    Upright dotted lines: the stated `caches`; shaded: the `steps`.
    """
    lines = [line for line in lines if len(line.loads) > 1]
    if not lines:
        return None
    every = [load for line in lines for load in line.loads]
    sizes = sorted({load.size for load in every})
    with drawing(TALL_IN) as figure:
        axes = figure.add_axes((0.12, 0.13, 0.66, 0.69))
        marks = [mark for load in every for mark in finite(load.ns, load.low, load.high)]
        logarithmic(axes, "y", min(marks) / FOOT, max(marks))
        shown = {cache: size for cache, size in caches.items() if size >= sizes[0]}
        _along(axes, sizes, list(shown.values()))
        axes.set_xlabel("working set", fontsize=8)
        rows = _caches(axes, shown)
        pad = 6 + ROW_PT * rows
        axes.set_title("ns per load", loc="left", color=GREY, fontsize=8, x=-0.14, pad=pad)
        _steps(axes, steps)
        for line in lines:
            _draw(axes, line)
        _label(axes, lines)
        return as_picture(figure, name, alt)


def _along(axes: Axes, sizes: Sequence[int], others: Sequence[int]) -> None:
    first, last = min(sizes), max(*sizes, *others)
    axes.set_xscale("log", base=2)
    axes.set_xlim(first / 1.3, last * 1.3)
    factor = TICK_FACTOR
    while first * factor**MOST_TICKS <= last:
        factor *= TICK_FACTOR
    ticks = [first * factor**k for k in range(MOST_TICKS) if first * factor**k <= last]
    axes.xaxis.set_major_locator(FixedLocator([float(tick) for tick in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _: format_bytes(round(at))))


def _caches(axes: Axes, caches: dict[str, int]) -> int:
    """Each name in the lowest row in which it meets none before it; returns how many rows are."""
    place = axes.transData + axes.transAxes.inverted()
    ends = [0.0 for _ in ROWS]
    for cache, size in sorted(caches.items(), key=lambda item: item[1]):
        axes.axvline(size, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        text = f"{cache} {format_bytes(size)}"
        wide = CHARACTER * len(text)
        begin = min(max(place.transform((size, 1))[0] - wide / 2, 0), 1.05 - wide)
        free = [k for k, end in enumerate(ends) if end <= begin]
        row = free[0] if free else len(ROWS) - 1
        ends[row] = begin + wide
        axes.text(
            begin + wide / 2, 1 + ROWS[row], text, ha="center", color=GREY,
            transform=axes.transAxes, fontsize=7.5,
        )  # fmt: skip
    return sum(end > 0 for end in ends)


def _steps(axes: Axes, steps: Sequence[Step]) -> None:
    """Shaded, with the factor at the foot, moved apart."""
    place = axes.transData + axes.transAxes.inverted()
    middles = [place.transform(((step.low * step.high) ** 0.5, 1))[0] for step in steps]
    for step, at in zip(steps, spread(middles, 0.17, 0.06, 0.94), strict=True):
        axes.axvspan(step.low, step.high, color=FAINT, alpha=0.6, linewidth=0, zorder=0)
        axes.text(
            at, 0.02, step.text, ha="center", transform=axes.transAxes, color=INK, fontsize=7.5,
            zorder=5,
        )  # fmt: skip


def _draw(axes: Axes, line: Line) -> None:
    loads = sorted(line.loads, key=lambda load: load.size)
    wide = 1.6 if line.main else 0.9
    axes.plot(
        [load.size for load in loads], [load.ns for load in loads], marker="o", color=line.colour,
        markersize=3.5 if line.main else 2.5, linewidth=wide, zorder=4 + line.main,
    )  # fmt: skip
    bottom, top = axes.get_ylim()
    for load in loads:
        ends = within(load.low, load.high, (bottom, top))
        axes.plot(
            [load.size] * 2,
            ends,
            color=line.colour,
            linewidth=wide,
            alpha=0.8,
            zorder=3 + line.main,
        )
    for a, b in pairwise(loads):
        if None in (a.p10, a.p90, b.p10, b.p90):
            continue
        axes.fill_between(
            [a.size, b.size],
            [max(float(load.p10 or 0), bottom) for load in (a, b)],
            [min(float(load.p90 or 0), top) for load in (a, b)],
            color=line.colour, alpha=0.12, linewidth=0, zorder=2,
        )  # fmt: skip


def _label(axes: Axes, lines: Sequence[Line]) -> None:
    """Each line's name right of the picture, at the height of its last mark, moved apart."""
    place = axes.transData + axes.transAxes.inverted()
    last = [max(line.loads, key=lambda load: load.size) for line in lines]
    ends = [place.transform((load.size, load.ns)) for load in last]
    heights = spread([end[1] for end in ends], 0.07, 0.0, 0.98)
    for line, (x, end), y in zip(lines, ends, heights, strict=True):
        axes.plot(
            [x, 1.0, 1.03], [end, end, y], transform=axes.transAxes, color=line.colour,
            linewidth=0.7, alpha=0.6, clip_on=False,
        )  # fmt: skip
        axes.text(
            1.04, y, shortened(line.label, LABEL), transform=axes.transAxes, color=line.colour,
            va="center", fontsize=7.5,
        )  # fmt: skip

"""The picture of a sweep: times along a factor, published and rerun."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from benchbook.core.sizes import format_bytes
from benchbook.report.plots.marks import LEGEND_IN, Marked, draw, legend, runs_of
from benchbook.report.plots.palette import GREY, INK
from benchbook.report.plots.style import (
    RASTER_FROM,
    STYLE,
    WIDTH_IN,
    Picture,
    as_picture,
    diamonds,
    drawing,
    finite,
    label_ends,
    logarithmic,
    size_in,
    tick_label,
    within,
)

SWEEP_IN, NAME_FONT = 3.5, 7.5
LEFT, LEFT_OF_LONG = 0.13, 0.18  # where the axes begin, as a share of the width, by their numbers
MOST_LONG = 4  # of these below an axis
LETTER_IN = 0.07  # of a number below the axis, with the room around it
MANY_SIZES = 1000  # largest ÷ smallest value along the axis, beyond which it is one of logarithms
BYTES, MANY_BYTES = "bytes", 100  # sizes of memory are looked at by their powers much sooner
RATIO = "ratio"
# Scales of both axes: linear or logarithmic, as the values ask for; logarithmic with a tick at each
# value along, and the line where both are equal; logarithmic with round numbers.
AUTOMATIC, SPEEDUP, LOGARITHMIC = "automatic", "speed-up", "logarithmic"
WIDEST = 12  # largest ÷ smallest time, beyond which the axis is one of logarithms


@dataclass(frozen=True)
class Curve:
    """One line: (at, value, low, high, values of the invocations) of each rerun point, and (at,
    value) of each published one; `marks`: for each point the names of its findings."""

    label: str
    colour: str
    values: Sequence[tuple[float, float, float | None, float | None, Sequence[float]]] = ()
    published: Sequence[tuple[float, float]] = ()
    emulated: bool = False
    marks: Sequence[Sequence[str]] = ()
    published_label: str = ""


def curves(
    name: str, alt: str, lines: Sequence[Curve], unit: str, along: str, scale: str = AUTOMATIC
) -> Picture | None:
    """Times along a factor: dots on lines rerun, diamonds on dotted lines published, hollow dots on
    dashed lines emulated. `scale`: AUTOMATIC, SPEEDUP or LOGARITHMIC. None where there is nothing
    to draw."""
    lines = [line for line in lines if line.values or line.published]
    if not lines:
        return None
    marks = [
        mark for line in lines for point in line.values for mark in finite(*point[1:4], *point[4])
    ]
    marks += [value for line in lines for _, value in line.published]
    names = [name for line in lines for own in line.marks for name in own]
    foot = LEGEND_IN if names else 0.0
    tall = SWEEP_IN + foot
    left = LEFT_OF_LONG if scale == LOGARITHMIC else LEFT
    with drawing(tall) as figure:
        legend(figure, names)
        axes = figure.add_axes(
            (left, (0.13 * SWEEP_IN + foot) / tall, _wide(lines, left), 0.785 * SWEEP_IN / tall)
        )
        places = [point[0] for line in lines for point in line.values]
        places += [at for line in lines for at, _ in line.published]
        _scale(axes, marks, places, along, scale)
        limits = axes.get_ylim()
        for line in lines:
            _draw_published(axes, line)
        _draw_rerun(axes, lines, limits)
        _scale(axes, marks, places, along, scale)  # seaborn has set scales of its own
        axes.set_ylabel("")
        axes.set_xlabel(along, fontsize=8)
        axes.set_title(unit, loc="left", color=GREY, fontsize=8, x=-left)
        if scale == SPEEDUP:
            ends = min(places), max(places)
            axes.plot(ends, ends, color=GREY, linewidth=0.8, zorder=1)
        elif unit == RATIO:
            axes.axhline(1, color=GREY, linewidth=0.8, zorder=1)
        named = [(line.label, line.colour, *line.values[-1][:2]) for line in lines if line.values]
        named += [
            (_published(line), line.colour, *line.published[-1]) for line in lines if line.published
        ]
        label_ends(axes, named, NAME_FONT)
        draw(axes, [run for line in lines for run in runs_of(_marked(line))])
        return as_picture(figure, name, alt)


def _scale(
    axes: Axes, marks: Sequence[float], places: Sequence[float], along: str, scale: str
) -> None:
    """Both axes: times of one size from 0, of many by their logarithms."""
    if scale != AUTOMATIC or max(marks) > WIDEST * min(marks):
        logarithmic(axes, "y", min(marks), max(marks))
    else:
        axes.set_ylim(0, 1.06 * max(marks))
    if scale == LOGARITHMIC:
        logarithmic(axes, "x", min(places), max(places), MOST_LONG)
    else:
        _along(axes, places, along, scale == SPEEDUP)


def _along(axes: Axes, places: Sequence[float], along: str, is_speedup: bool) -> None:
    """An axis with a tick at each value, but where these would run into each other; linear, or of
    logarithms where the values are of many sizes, and for speed-ups."""
    ends = min(places), max(places)
    many = MANY_BYTES if along == BYTES else MANY_SIZES
    logs = ends[0] > 0 and (is_speedup or ends[1] > many * ends[0])
    scale = math.log if logs else float
    low, high = scale(ends[0]), scale(ends[1])
    room = 0.05 * (high - low or 1)
    if logs:
        axes.set_xscale("log")
        axes.set_xlim(math.exp(low - room), math.exp(high + room))
    else:
        axes.set_xlim(low - room, high + room)
    in_words = logs and along == BYTES
    words = (lambda value, _: format_bytes(round(value))) if in_words else tick_label
    longest = max(len(words(place, 0)) for place in places)
    apart = max(0.12, LETTER_IN * longest / size_in(axes).width) * (high - low)
    kept: list[float] = []
    for place in sorted(set(places)):
        if not kept or scale(place) - scale(kept[-1]) >= apart:
            kept.append(place)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_major_formatter(FuncFormatter(words))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_published(axes: Axes, line: Curve) -> None:
    if line.published:
        published_at, values = zip(*line.published, strict=True)
        axes.plot(published_at, values, color=line.colour, linewidth=0.8, linestyle=":", zorder=2)
        diamonds(axes, published_at, values, 4.5, colour=line.colour if len(values) == 1 else INK)


def _draw_rerun(axes: Axes, lines: Sequence[Curve], limits: tuple[float, float]) -> None:
    """Lines, dots and intervals by seaborn, which computes none of them; faint dots are the
    invocations. An open end of an interval runs to the end of `limits`."""
    amount = sum(len(point[4]) for line in lines for point in line.values)
    for line in lines:
        for place, _, _, _, dots in line.values:
            axes.scatter(
                [place] * len(dots), dots, s=6, color=line.colour, alpha=0.3, linewidths=0,
                zorder=2, rasterized=amount > RASTER_FROM,
            )  # fmt: skip
    for emulated in (False, True):
        alike = [line for line in lines if line.values and line.emulated == emulated]
        if not alike:
            continue
        import pandas as pd
        import seaborn.objects as so  # takes 1 s: imported only where there is a sweep to draw

        rows = [
            (str(k), at, value, *within(low, high, limits))
            for k, line in enumerate(alike)
            for at, value, low, high, _ in line.values
        ]
        table = pd.DataFrame(rows, columns=["line", "at", "value", "low", "high"])
        plot = (
            so.Plot(table, x="at", y="value", color="line")
            .add(so.Range(linewidth=1.6, alpha=0.8), ymin="low", ymax="high", legend=False)
            .add(so.Line(linewidth=1.6, linestyle="--" if emulated else "-"), legend=False)
            .add(so.Dot(pointsize=4.5, fill=not emulated), legend=False)
            .scale(color={str(k): line.colour for k, line in enumerate(alike)})
        )
        with warnings.catch_warnings():  # of seaborn about pandas: a page would show them
            warnings.simplefilter("ignore")
            plot.on(axes).plot()


def _marked(line: Curve) -> list[Marked]:
    marks = line.marks or [()] * len(line.values)
    return [
        Marked(point[0], point[1], names) for point, names in zip(line.values, marks, strict=True)
    ]


def _wide(lines: Sequence[Curve], left: float) -> float:
    """How wide the axes are, as a share of the picture, so that the longest name fits beside."""
    names = [line.label for line in lines if line.values]
    names += [_published(line) for line in lines if line.published]
    font = FontProperties(family=STYLE["font.sans-serif"][0], size=NAME_FONT)
    widths = [
        text_to_path.get_text_width_height_descent(name, font, ismath=False) for name in names
    ]
    longest = max(width[0] for width in widths) / 72 / WIDTH_IN
    return max(0.3, min(0.55, (0.99 - left - longest) / 1.04))


def _published(line: Curve) -> str:
    return f"◇ {line.published_label or line.label}"

"""Pictures as SVG text: one style, one palette, labels beside the marks, nothing from outside.

A picture is drawn for a phone's width and grows with the column. Text stays text, so that it can be
searched and read aloud; a picture's `alt` says in words what it shows.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

from benchbook.report.plots import palette
from benchbook.report.plots.palette import GREY, INK, PALETTE
from benchbook.report.plots.svg_minify import minified

WIDTH_IN = 3.9  # 374 CSS pixels: legible when a phone shrinks it to 330
LINE_IN = 0.12  # of a tick's number, as high as it is
LETTER_IN, GAP_IN = 0.062, 0.06  # the width of a letter of it, and the room between two numbers
RASTER_FROM = 2000  # marks; above it they are pixels, or the file grows by 100 bytes a mark
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    # Verdana has the widths of DejaVu Sans, with which the layout is computed.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 8.5,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.fonttype": "none",
    # A dollar of a source is a dollar.
    "text.parse_math": False,
    "svg.hashsalt": "benchbook",
    "figure.dpi": 72,
    "savefig.dpi": 200,
}
_SHEET = f"<style>{palette.picture_css()}</style>\n"
_OUTSIDE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>", re.DOTALL)


@dataclass(frozen=True)
class Picture:
    """An SVG: `svg` stands alone in a file, `inline` goes into a page; both say `alt`."""

    name: str
    svg: str
    alt: str

    @property
    def inline(self) -> str:
        """Without name spaces (HTML needs none) and with ids of its own on a page of many."""
        text = self.svg.replace(_SHEET, "")  # the page has it
        text = re.sub(r"\s(xmlns(:\w+)?|version)=\"[^\"]*\"", "", text, count=3)
        prefix = f"p{zlib.crc32(self.name.encode()):x}"
        text = re.sub(r'\bid="', f'id="{prefix}-', text)
        text = text.replace("url(#", f"url(#{prefix}-")
        return re.sub(r'(xlink:)?href="#', f'href="#{prefix}-', text)


@contextmanager
def drawing(height_in: float, width_in: float = WIDTH_IN) -> Iterator[Figure]:
    """A figure in this module's style, whatever the reader's matplotlib is set to."""
    # rcParams accept only names that they know, as literals.
    settings: dict[Any, Any] = {**mpl.rcParamsDefault, **STYLE}
    # No context gives a backend back: a notebook's own plots would be shown no more.
    del settings["backend"]
    with mpl.rc_context(settings):
        figure = Figure(figsize=(width_in, height_in))
        FigureCanvasSVG(figure)
        yield figure


def as_picture(figure: Figure, name: str, alt: str) -> Picture:
    """The SVG of a figure; call it inside `drawing`."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    text = minified(_OUTSIDE.sub("", stream.getvalue()).strip())
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text)
    if size:  # in CSS pixels; the page may shrink it
        wide, high = (float(number) * 4 / 3 for number in size.groups())
        text = text.replace(size[0], f'width="{wide:.0f}" height="{high:.0f}"', 1)
    label = _escaped(alt)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    text = text.replace(">", f">\n{_SHEET}", 1)
    return Picture(name, text + "\n", alt)


def _escaped(text: str) -> str:
    for sign, name in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    return text


def method_colour(methods: Sequence[str], method: str) -> str:
    """The colour of a method: by its place in the experiment's definitions."""
    if method not in methods:
        return GREY
    return PALETTE[list(methods).index(method) % len(PALETTE)]


def tick_label(value: float, _: object = None) -> str:
    """A tick's number: 0.5, 10, 5,000."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def ticks(
    low: float, high: float, most: int, apart: float = 1.0, inches: float = math.inf
) -> list[float]:
    """At most `most` round numbers from low to high, as many as there are; at least one.

    `apart`: the least factor from one to the next; `inches`: how long the axis is along which they
    are printed next to one another.
    """
    chosen: list[float] = []
    per_factor = inches / (math.log(high / low) or 1)

    def has_room(numbers: list[float]) -> bool:
        return all(
            b >= apart * a and per_factor * math.log(b / a) >= _width_in(a, b)
            for a, b in pairwise(sorted(numbers))
        )

    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for stride in (4, 3, 2):  # decades, where there are more of them than numbers
        inside = [10.0**k for k in range(first, last + 1) if k % stride == 0]
        inside = [tick for tick in inside if low <= tick <= high]
        chosen = inside if len(chosen) < len(inside) <= most and has_room(inside) else chosen
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 2, 2.5, 3, 4)):
        round_numbers = [step * 10.0**k for k in range(first, last + 1) for step in steps]
        inside = [tick for tick in round_numbers if low <= tick <= high]
        if len(chosen) < len(inside) <= most and has_room(inside):
            chosen = inside
    return chosen if len(chosen) > 1 else _even_ticks(low, high)


def _width_in(left: float, right: float) -> float:
    """How far apart in inches two numbers need to be, each centred below its tick."""
    return LETTER_IN / 2 * (len(tick_label(left)) + len(tick_label(right))) + GAP_IN


def _even_ticks(low: float, high: float) -> list[float]:
    """Two to four round numbers at equal distances, for a range of less than a factor of two."""
    for step in (10.0**k * five for k in range(4, -9, -1) for five in (5, 2, 1)):
        count = math.floor(high / step) - math.ceil(low / step) + 1
        if count >= 2:
            return [(math.ceil(low / step) + i) * step for i in range(min(count, 4))]
    return [low]


def logarithmic(axes: Axes, axis: str, low: float, high: float, most: int = 5) -> None:
    """A log axis over a bit more than low to high, with few and plain numbers."""
    room = max((high / low) ** 0.06, 1.06)
    low, high = low / room, high * room
    if axis == "x":
        axes.set_xscale("log")
        axes.set_xlim(low, high)
    else:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
    which = axes.xaxis if axis == "x" else axes.yaxis
    apart = 1.0 if axis == "x" else (high / low) ** (LINE_IN / size_in(axes).height)
    inches = size_in(axes).width if axis == "x" else math.inf
    which.set_major_locator(FixedLocator(ticks(low, high, most, min(apart, 2.0), inches)))
    which.set_major_formatter(FuncFormatter(tick_label))
    which.set_minor_locator(NullLocator())
    which.set_minor_formatter(NullFormatter())


def size_in(axes: Axes) -> Bbox:
    """Where the axes lie in their figure, in inches."""
    figure = axes.get_figure(root=True)
    return axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())  # type: ignore[union-attr]


def line_at(axes: Axes, value: float, text: str = "") -> None:
    """A labelled reference line, such as the 1 of ratios."""
    axes.axvline(value, color=GREY, linewidth=0.9, zorder=1)
    if text:
        place = (axes.transData + axes.transAxes.inverted()).transform((value, 0))[0]
        room = (1 - place) * size_in(axes).width
        side = "left" if place < 0.7 and room > LETTER_IN * len(text) else "right"
        axes.annotate(
            text,
            (value, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3 if side == "left" else -3, 2),
            textcoords="offset points",
            ha=side,
            color=GREY,
            fontsize=7.5,
        )


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions moved apart to at least `gap`, in their order, within low to high."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = [min(max(positions[i], low), high) for i in order]
    for _ in range(200):
        moved = False
        for k in range(len(placed) - 1):
            lack = gap - (placed[k + 1] - placed[k])
            if lack > 1e-9:
                placed[k] -= lack / 2
                placed[k + 1] += lack / 2
                moved = True
        if placed and placed[0] < low:
            placed[0] = low
        if placed and placed[-1] > high:
            placed[-1] = high
        if not moved:
            break
    moved_apart = [0.0] * len(positions)
    for k, i in enumerate(order):
        moved_apart[i] = placed[k]
    return moved_apart


def diamonds(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    size: float = 5,
    edge: float = 1,
    colour: str = INK,
) -> None:
    """Hollow diamonds: what is published, or predicted."""
    axes.plot(
        x, y, "D", markerfacecolor="white", markeredgecolor=colour, markersize=size,
        markeredgewidth=edge, zorder=5,
    )  # fmt: skip


def label_ends(
    axes: Axes, ends: Sequence[tuple[str, str, float, float]], font: float, gap: float = 0.055
) -> None:
    """Labels right of the axes, at the height of a line's last mark, moved apart where two would
    overlap. `ends`: (label, colour, x, y) of each line."""
    place = axes.transData + axes.transAxes.inverted()
    heights = [place.transform((x, y))[1] for _, _, x, y in ends]
    for (label, colour, _, _), y, end in zip(
        ends, spread(heights, gap, 0.0, 1.0), heights, strict=True
    ):
        axes.plot(
            [1.0, 1.03], [end, y], transform=axes.transAxes, color=colour, linewidth=0.7,
            clip_on=False,
        )  # fmt: skip
        axes.text(
            1.04, y, label, transform=axes.transAxes, color=colour, va="center", fontsize=font
        )


def within(
    low: float | None, high: float | None, limits: tuple[float, float]
) -> tuple[float, float]:
    """The ends of an interval; an open end runs to the picture's edge."""
    return limits[0] if low is None else low, limits[1] if high is None else high


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis: tables and `alt` have all of it."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def finite(*values: float | None) -> list[float]:
    """The values that a logarithmic axis can hold: finite and above 0."""
    return [v for v in values if v is not None and math.isfinite(v) and v > 0]

"""Marks of findings in pictures: a symbol at the point, its name beside it, what it means below.

A mark's first letter tells the effect, so that no colour is needed: X1, B1, E2, i1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from benchbook.report.plots.palette import GREY, INK

WORDS = {"X": "invalidates", "B": "biases", "E": "explains", "i": "informs"}
SYMBOLS = {"X": "x", "B": "^", "E": "s", "i": "o"}
LEGEND_IN = 0.2
FONT, LEGEND_FONT = 6.5, 7.5
WIDE_PT, HIGH_PT = 4.2, 8.0  # of a letter of a name
MOST = 3  # names at one point; the others are counted
# Where a name may stand, in points from its symbol: above, below, beside, then further away.
NEAR, BESIDE = [(0.0, 8.5), (0.0, -8.5)], [(13.0, 0.0), (-13.0, 0.0)]
FAR = [(x, sign * y) for y in (16.0, 24.0, 32.0) for sign in (1, -1) for x in (0.0, 13.0, -13.0)]
HALF_PT = 3.5  # of a dot, which a name should not cover


@dataclass(frozen=True)
class Marked:
    """A point of a picture with the names of its marks, the gravest first."""

    x: float
    y: float
    names: Sequence[str]


def text_of(names: Sequence[str]) -> str:
    """`X1 E2`, and of many `X1 E1 E2 +2`."""
    more = len(names) - MOST
    return " ".join(names[:MOST]) + (f" +{more}" if more > 0 else "")


def runs_of(line: Sequence[Marked]) -> list[list[Marked]]:
    """The marked points of a line: points in a row with the same marks are named once."""
    runs: list[list[Marked]] = []
    for point in line:
        if runs and list(runs[-1][0].names) == list(point.names):
            runs[-1].append(point)
        else:
            runs.append([point])
    return [run for run in runs if run[0].names]


def draw(axes: Axes, runs: Iterable[Sequence[Marked]], *, beside: bool = False) -> None:
    """Draw the symbols, and one name for each run of points, clear of the texts and dots that are
    there; `beside`: rather right or left of its point than above it.

    Call it when everything else of these axes is drawn.
    """
    runs = list(runs)
    if not runs:
        return
    for point in (point for run in runs for point in run):
        letter = point.names[0][0]
        axes.plot(
            [point.x], [point.y], SYMBOLS[letter], markerfacecolor="none", markeredgecolor=INK,
            markersize=8 if letter == "X" else 9, markeredgewidth=1.1, zorder=6, clip_on=False,
        )  # fmt: skip
    taken = _taken(axes)
    for run in runs:
        text = text_of(run[0].names)
        box = _place(axes, run, text, (BESIDE, NEAR) if beside else (NEAR, BESIDE), taken)
        if box is None:
            continue  # the symbol tells the effect, and the table the name
        taken.append(box)
        middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        x, y = axes.transAxes.inverted().transform(middle)
        axes.text(
            x, y, text, transform=axes.transAxes,
            ha="center", va="center", color=INK, fontsize=FONT, fontweight="bold", zorder=7,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.7},
        )  # fmt: skip


def _pixels(axes: Axes) -> float:
    """Pixels of a point (1/72 inch)."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return float(figure.dpi) / 72


def _taken(axes: Axes) -> list[Bbox]:
    """The boxes of all texts and of the dots of all lines, in pixels."""
    half = HALF_PT * _pixels(axes)
    dots = [
        axes.transData.transform(at)
        for line in axes.lines
        if line.get_marker() not in ("None", "", None) and line.get_transform() == axes.transData
        for at in np.asarray(line.get_xydata())
    ]
    return [text.get_window_extent() for text in axes.texts if text.get_text()] + [
        Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in dots
    ]


def _place(
    axes: Axes,
    run: Sequence[Marked],
    text: str,
    places: Sequence[Sequence[tuple[float, float]]],
    taken: Sequence[Bbox],
) -> Bbox | None:
    """A free box for the name of a run: near the point nearest to its middle that has one."""
    order = sorted(range(len(run)), key=lambda k: abs(k - (len(run) - 1) / 2))
    for near in (*places, FAR):
        for k in order:
            x, y = axes.transData.transform((run[k].x, run[k].y))
            for move in near:
                box = _box(axes, (x, y), move, text)
                if _is_inside(axes, box) and not any(
                    box.overlaps(other_box) for other_box in taken
                ):
                    return box
    return None


def _box(axes: Axes, at: tuple[float, float], move: tuple[float, float], text: str) -> Bbox:
    """The name's box in pixels, moved into the axes from their left and right ends."""
    per = _pixels(axes)
    wide, high = WIDE_PT * len(text) * per, HIGH_PT * per
    aside = math.copysign(wide / 2 - 6 * per, move[0]) if move[0] else 0.0
    inside = axes.get_window_extent()
    x = at[0] + move[0] * per + aside
    x = min(max(x, inside.x0 + wide / 2), inside.x1 - wide / 2)
    y = at[1] + move[1] * per
    return Bbox.from_extents(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)


def _is_inside(axes: Axes, box: Bbox) -> bool:
    inside = axes.get_window_extent()
    return bool(inside.y0 <= box.y0 and box.y1 <= inside.y1)


def letters(names: Iterable[str]) -> list[str]:
    """The effects that occur, the gravest first."""
    initials = {name[0] for name in names}
    return [letter for letter in WORDS if letter in initials]


def legend(figure: Figure, names: Iterable[str]) -> None:
    """What the symbols mean, in the lowest LEGEND_IN of the picture; only those that occur."""
    wide, tall = figure.get_size_inches()
    x, y = 0.04, LEGEND_IN / 2 / tall
    for letter in letters(names):
        at = (x + 0.05) / wide
        symbol = Line2D([at], [y], marker=SYMBOLS[letter], markersize=5.5, linestyle="none")
        symbol.set(markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1)
        symbol.set_transform(figure.transFigure)
        figure.add_artist(symbol)
        text = f"{letter} {WORDS[letter]}"
        figure.text(
            (x + 0.14) / wide, y, text, color=GREY, fontsize=LEGEND_FONT, va="center_baseline"
        )
        x += 0.28 + 0.064 * len(text)

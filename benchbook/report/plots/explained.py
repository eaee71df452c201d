"""The picture of a chain of causes: how the odd factor shrinks, twin by twin, on a log axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from benchbook.report.plots.palette import FAINT, GREY, INK, PALETTE, WARNING
from benchbook.report.plots.style import (
    WIDTH_IN,
    Picture,
    as_picture,
    diamonds,
    drawing,
    finite,
    line_at,
    logarithmic,
    within,
)

ROW_IN, BAR_IN, LABEL_IN, HEAD_IN, FOOT_IN = 0.46, 0.13, 0.15, 0.24, 0.42
LEFT_IN, RIGHT_IN = 0.12, 0.9
WHOLE, LEFT = INK, WARNING
TAKEN = PALETTE[0]


@dataclass(frozen=True)
class Fall:
    """A bar from one factor over the base to another, which has the interval `low` to `high`.

    `predicted` is where the bar should end; `colour` says what kind of bar it is.
    """

    label: str
    start: float
    end: float
    low: float | None
    high: float | None
    predicted: float | None
    text: str
    colour: str


def waterfall(name: str, alt: str, falls: Sequence[Fall], unit: str) -> Picture | None:
    """A row for each bar, each beginning where the one above it ends; diamonds are predictions."""
    marks = [
        mark
        for fall in falls
        for mark in finite(fall.start, fall.end, fall.low, fall.high, fall.predicted)
    ]
    if not marks:
        return None
    inside = ROW_IN * len(falls)
    tall = HEAD_IN + inside + FOOT_IN
    with drawing(tall) as figure:
        axes = figure.add_axes(
            (
                LEFT_IN / WIDTH_IN,
                FOOT_IN / tall,
                (WIDTH_IN - LEFT_IN - RIGHT_IN) / WIDTH_IN,
                inside / tall,
            )
        )
        axes.set_ylim(inside, 0)
        logarithmic(axes, "x", min(*marks, 1.0), max(*marks, 1.0))
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(unit)
        axes.xaxis.label.set_fontsize(8)
        line_at(axes, 1.0, "as the base")
        for k, fall in enumerate(falls):
            after = falls[k + 1] if k + 1 < len(falls) else None
            _draw(axes, fall, k * ROW_IN, after)
        return as_picture(figure, name, alt)


def _draw(axes: Axes, fall: Fall, top: float, after: Fall | None) -> None:
    middle = top + LABEL_IN + 0.06 + BAR_IN / 2
    axes.text(
        0, top + LABEL_IN / 2 + 0.03, fall.label, transform=axes.get_yaxis_transform(),
        va="center", fontsize=8, color=fall.colour, zorder=6,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip
    low, high = sorted((fall.start, fall.end))
    axes.add_patch(
        Rectangle((low, middle - BAR_IN / 2), high - low, BAR_IN, facecolor=fall.colour,
                  edgecolor=fall.colour, linewidth=1, alpha=0.85, zorder=3)
    )  # fmt: skip
    if fall.low is not None or fall.high is not None:
        axes.plot(
            within(fall.low or None, fall.high or None, axes.get_xlim()),
            [middle, middle],
            color=GREY,
            linewidth=1.4,
            zorder=4,
        )
    if fall.predicted is not None:
        diamonds(axes, [fall.predicted], [middle])
    if after is not None:
        below = middle + ROW_IN - BAR_IN / 2
        axes.plot([fall.end] * 2, [middle, below], color=FAINT, linewidth=0.8, zorder=1)
    axes.text(
        1.02, middle, fall.text, transform=axes.get_yaxis_transform(), va="center", fontsize=7.5,
        color=fall.colour,
    )  # fmt: skip

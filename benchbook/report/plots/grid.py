"""Small multiples: one panel per line of a table, published beside rerun, one scale for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from matplotlib.axes import Axes

from benchbook.report.plots.marks import LEGEND_IN, Marked, draw, legend, runs_of
from benchbook.report.plots.palette import GREY, REGION
from benchbook.report.plots.style import (
    RASTER_FROM,
    WIDTH_IN,
    Picture,
    as_picture,
    diamonds,
    drawing,
    finite,
    logarithmic,
    shortened,
    within,
)

PANEL_IN, HEAD_IN, FOOT_IN, LEFT_IN = 0.86, 0.34, 0.5, 0.46
WIDE_FROM = 5  # places along the axis from which a panel takes the whole width
SHIFT = 0.14  # published values stand so far left of their place, reruns right
LETTERS = 22  # of a panel's title
LABEL_IN = 0.36  # what a label under the axis needs
LINE_IN, LETTER_IN = 0.12, 0.058  # of a label


@dataclass(frozen=True)
class Mark:
    """A rerun: its place on the axis, the value, its interval, every invocation, and the names of
    the findings at its point."""

    place: int
    value: float
    low: float | None
    high: float | None
    dots: Sequence[tuple[float, bool]] = ()
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Panel:
    """One line of the table. `published`: (place, value)."""

    label: str
    colour: str
    published: Sequence[tuple[int, float]]
    here: Sequence[Mark]


def panels(
    name: str,
    alt: str,
    drawn: Sequence[Panel],
    places: Sequence[str],
    *,
    unit: str,
    along: str,
    region: tuple[float, float] | None,
) -> Picture | None:
    """Panels over the same places, labelled below; the line at 1 drawn, `region` shaded.

    None where there is nothing to draw. An interval without a finite end runs to the edge.
    """
    marks = [value for panel in drawn for _, value in panel.published]
    marks += [
        shown
        for panel in drawn
        for mark in panel.here
        for shown in finite(mark.value, mark.low, mark.high, *(value for value, _ in mark.dots))
    ]
    if not marks:
        return None
    marks += [1.0, *(region or ())]
    columns = 1 if len(places) >= WIDE_FROM else 2
    rows = -(-len(drawn) // columns)
    names = [name for panel in drawn for mark in panel.here for name in mark.marks]
    wide = (WIDTH_IN - 0.06) / columns
    places = in_lines(places, (wide - LEFT_IN) / len(places))
    low = LEGEND_IN if names else 0.0
    foot = low + FOOT_IN + LINE_IN * max(place.count("\n") for place in places)
    tall = rows * (PANEL_IN + HEAD_IN) + foot
    amount = sum(len(mark.dots) for panel in drawn for mark in panel.here)
    with drawing(tall) as figure:
        for k, panel in enumerate(drawn):
            row, column = divmod(k, columns)
            bottom = foot + (rows - 1 - row) * (PANEL_IN + HEAD_IN)
            axes = figure.add_axes(
                (
                    (column * wide + LEFT_IN) / WIDTH_IN,
                    bottom / tall,
                    (wide - LEFT_IN) / WIDTH_IN,
                    PANEL_IN / tall,
                )
            )
            last = k + columns >= len(drawn)
            _axes(axes, marks, places if last else (), len(places), wide - LEFT_IN)
            _draw(axes, panel, region, amount)
            points = [Marked(mark.place + SHIFT, mark.value, mark.marks) for mark in panel.here]
            draw(axes, runs_of(points))
        figure.text(0.0, 1 - 0.03 / tall, unit, color=GREY, fontsize=8, va="top")
        figure.text(LEFT_IN / WIDTH_IN, (low + 0.06) / tall, along, color=GREY, fontsize=8)
        legend(figure, names)
        return as_picture(figure, name, alt)


def in_lines(labels: Sequence[str], room: float) -> list[str]:
    """Labels with line breaks between words, so that lines are at most `room` inches wide where
    words allow it."""
    letters = max(1, int(room / LETTER_IN))
    return ["\n".join(wrap(label, letters, break_long_words=False)) or label for label in labels]


def _axes(
    axes: Axes, marks: Sequence[float], places: Sequence[str], amount: int, inches: float
) -> None:
    logarithmic(axes, "y", min(marks), max(marks), 4)
    axes.tick_params(labelsize=7.5)
    axes.set_xlim(-0.5, amount - 0.5)
    shown = list(range(0, amount, max(1, -(-int(LABEL_IN * amount * 100) // int(inches * 100)))))
    axes.set_xticks(shown)
    longest = max((len(line) for place in places for line in place.split("\n")), default=0)
    fits = longest * LETTER_IN * amount <= inches or len(shown) < amount
    axes.set_xticklabels([places[k] for k in shown] if places else [], fontsize=7 if fits else 5.5)


def _draw(axes: Axes, panel: Panel, region: tuple[float, float] | None, amount: int) -> None:
    axes.set_title(
        shortened(panel.label, LETTERS), loc="left", fontsize=8.5, color=panel.colour, pad=3
    )
    if region:
        axes.axhspan(*region, color=REGION, linewidth=0, zorder=0)
    axes.axhline(1, color=GREY, linewidth=0.9, zorder=1)
    for mark in panel.here:
        x = mark.place + SHIFT
        for disturbed in (False, True):
            values = [value for value, is_disturbed in mark.dots if is_disturbed == disturbed]
            axes.scatter(
                [x] * len(values), values, s=7, alpha=0.4, zorder=2,
                facecolors="none" if disturbed else panel.colour,
                edgecolors=panel.colour, linewidths=0.6, rasterized=amount > RASTER_FROM,
            )  # fmt: skip
        ends = within(mark.low, mark.high, axes.get_ylim())
        axes.plot([x, x], ends, color=panel.colour, linewidth=1.8, zorder=3)
        axes.plot([x], [mark.value], "o", color=panel.colour, markersize=4.5, zorder=4)
    places = [place - SHIFT for place, _ in panel.published]
    diamonds(axes, places, [value for _, value in panel.published], 4, 0.9)

"""The picture of comparisons: rows with published values, estimates, intervals, invocations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from benchbook.core import number_format
from benchbook.report.plots.marks import LEGEND_IN, Marked, draw, legend
from benchbook.report.plots.palette import FAINT, GREY, INK, REGION, WARNING
from benchbook.report.plots.style import (
    RASTER_FROM,
    STYLE,
    WIDTH_IN,
    Picture,
    as_picture,
    diamonds,
    drawing,
    finite,
    line_at,
    logarithmic,
    shortened,
    within,
)

ROW_IN, NOTE_IN, HEAD_IN, FOOT_IN = 0.29, 0.15, 0.3, 0.42
HEAD_LINE_IN, HEAD_FONT, HEAD_MARGIN_IN = 0.15, 8, 0.1
RECORDED_IN = 0.09  # below its row's own mark, which it would hide on a like machine
BESIDE, ABOVE = 24, 44  # letters of a label
NARROW_IN = 1.2  # an axis with room for three numbers
# Words over a line: the line is interrupted behind them.
OVER = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


@dataclass(frozen=True)
class Row:
    """One line of a forest picture. `dots`: (value, disturbed) of each invocation; `marks`: names
    of the findings at its points."""

    label: str
    colour: str = INK
    published: Sequence[float] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    dots: Sequence[tuple[float, bool]] = ()
    there: str = ""  # the published value in words, for the column on the right
    here: str = ""
    note: str = ""
    head: bool = False  # a heading: its label runs over the whole width, in lines that fit
    bounds: tuple[float | None, float | None] | None = None
    marks: Sequence[str] = ()
    emulated: bool = False
    imported: Sequence[float] = ()  # of logs that were made elsewhere
    # (value, low, high) of runs that were recorded, not here
    recorded: Sequence[tuple[float, float | None, float | None]] = ()


def interval_row(label: str, ratio: dict[str, Any], there: str = "") -> Row:
    """The row of a ratio {ratio, low, high}, such as that of a control build."""
    value, low, high = ratio["ratio"], ratio["low"], ratio["high"]
    here = number_format.number(value, low, high)
    return Row(label, value=value, low=low, high=high, there=there, here=here)


def forest(
    name: str,
    alt: str,
    rows: Sequence[Row],
    *,
    unit: str,
    label_at_1: str = "",
    columns: tuple[str, str] = ("published", "here"),
    above: bool = False,
    linear: bool = False,
) -> Picture | None:
    """Rows with published values (diamonds), imported (squares) and recorded ones (stars),
    estimates with intervals, and every invocation.

    Labels stand on the left, or with `above` over each row. None where there is nothing to draw.
    `linear`: from 0, else by logarithms.
    `label_at_1` labels the line at 1. An interval without a finite end runs to the picture's edge.
    """
    marks = [
        mark
        for row in rows
        for mark in finite(*row.published, *row.imported, row.value, row.low, row.high)
        + finite(*(value for value, _ in row.dots), *(end for ends in row.recorded for end in ends))
    ]
    if not marks:
        return None
    marks += [1.0] if label_at_1 else []
    marks += [b for row in rows for b in finite(*(row.bounds or ()))]
    # Beside its row a label takes room from the axis, above it as much as the picture is wide.
    above = above or any(len(row.label) > BESIDE for row in rows if not row.head)
    rows = [
        replace(row, label=_in_lines(row.label) if row.head else shortened(row.label, ABOVE))
        for row in rows
    ]
    heights = [_height(row, above) for row in rows]
    total = sum(heights)
    left = 0.12 if above else 0.16 + 0.072 * max(len(row.label) for row in rows if not row.head)
    right = 1.28 if columns[0] or any(row.there for row in rows) else 0.68
    names = [name for row in rows if row.value is not None for name in row.marks]
    foot = FOOT_IN + (LEGEND_IN if names else 0)
    tall = HEAD_IN + total + foot
    with drawing(tall) as figure:
        axes = figure.add_axes(
            (left / WIDTH_IN, foot / tall, (WIDTH_IN - left - right) / WIDTH_IN, total / tall)
        )
        axes.set_ylim(total, 0)
        inches = WIDTH_IN - left - right
        if linear:
            axes.set_xlim(0, 1.08 * max(marks))
        else:
            most = 3 if inches < NARROW_IN else 4 if max(marks) > 999 else 5
            logarithmic(axes, "x", min(marks), max(marks), most)
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(unit)
        axes.xaxis.label.set_fontsize(8)
        if label_at_1:
            line_at(axes, 1.0, label_at_1)
        column_x = (1 + (right - 0.66) / inches, 1 + (right - 0.05) / inches)
        for x, text in zip(column_x, columns, strict=True):
            mark = "◇ " if text == columns[0] and any(row.published for row in rows) else ""
            axes.text(
                x, 1 + 0.07 / total, mark + text, transform=axes.transAxes, ha="right",
                color=GREY, fontsize=7.5,
            )  # fmt: skip
        amount = sum(len(row.dots) for row in rows)
        top = 0.0
        for row, height in zip(rows, heights, strict=True):
            _draw_row(axes, row, top, height, above, column_x, amount, left / inches)
            top += height
        draw(axes, [[marked] for marked in _marked(rows, heights, above)], beside=above)
        legend(figure, names)
        return as_picture(figure, name, alt)


def _marked(rows: Sequence[Row], heights: Sequence[float], above: bool) -> list[Marked]:
    tops = [sum(heights[:k]) for k in range(len(rows))]
    return [
        Marked(row.value, top + _middle(row, above), row.marks)
        for row, top in zip(rows, tops, strict=True)
        if row.marks and row.value is not None
    ]


def _middle(row: Row, above: bool) -> float:
    """Distance from a row's top to its marks, in inches."""
    return ROW_IN / 2 + (0.17 if above and not row.head else 0)


def _height(row: Row, above: bool) -> float:
    if row.head:
        return ROW_IN + HEAD_LINE_IN * row.label.count("\n")
    return ROW_IN + (NOTE_IN if row.note else 0) + (0.17 if above else 0)


def _in_lines(label: str) -> str:
    """A heading with line breaks between words, so that no line is wider than the picture."""
    bold = FontProperties(family=STYLE["font.sans-serif"][0], weight="bold", size=HEAD_FONT)
    room = (WIDTH_IN - 2 * HEAD_MARGIN_IN) * 72
    lines = [""]
    for word in (shortened(word, ABOVE) for word in label.split(" ")):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width(longer, bold) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _width(text: str, font: FontProperties) -> float:
    # By the font's own widths: outlines of letters take a hundred times as long.
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _draw_row(
    axes: Axes,
    row: Row,
    top: float,
    height: float,
    above: bool,
    column_x: tuple[float, float],
    amount: int,
    margin: float,
) -> None:
    beside = axes.get_yaxis_transform()
    y = top + _middle(row, above)
    if row.head:
        axes.text(
            -margin + 0.02, top + ROW_IN * 0.1 + height / 2, row.label, transform=beside,
            va="center", color=INK, fontweight="bold", fontsize=HEAD_FONT, bbox=OVER,
        )  # fmt: skip
        return
    place = (0.0, top + 0.1, "left") if above else (-0.03, y, "right")
    axes.text(
        *place[:2], row.label, transform=beside, va="center", ha=place[2], color=row.colour,
        fontsize=8.5, bbox=None if row.bounds else OVER,
    )  # fmt: skip
    low_x, high_x = axes.get_xlim()
    axes.plot([low_x, high_x], [y, y], color=FAINT, linewidth=0.5, zorder=0)
    if row.bounds:
        start, end = (low_x if row.bounds[0] is None else row.bounds[0]), row.bounds[1]
        end = high_x if end is None else end
        axes.add_patch(
            Rectangle((start, top), end - start, height, color=REGION, zorder=0, linewidth=0)
        )
    for disturbed in (False, True):
        values = [value for value, is_disturbed in row.dots if is_disturbed == disturbed]
        shift = [(((k * 7) % 5) - 2) * 0.025 for k in range(len(values))]
        axes.scatter(
            values,
            [y + move for move in shift],
            s=9,
            facecolors="none" if disturbed else row.colour,
            edgecolors=row.colour,
            linewidths=0.6,
            alpha=0.45,
            zorder=2,
            rasterized=amount > RASTER_FROM,
        )
    if row.value is not None:
        ends = within(row.low, row.high, (low_x, high_x))
        axes.plot(
            ends, [y, y], color=row.colour, linewidth=2, zorder=3, solid_capstyle="butt",
            linestyle=(0, (2, 1)) if row.emulated else "solid",
        )  # fmt: skip
        axes.plot(
            [row.value], [y], "o", color=row.colour, markersize=5.5, zorder=4,
            markerfacecolor="white" if row.emulated else row.colour,
        )  # fmt: skip
    for value in row.published:
        diamonds(axes, [value], [y])
    if row.imported:
        axes.plot(
            row.imported, [y] * len(row.imported), "s", markerfacecolor="white",
            markeredgecolor=GREY, markersize=4.5, markeredgewidth=0.9, zorder=3.5,
        )  # fmt: skip
    for value, low, high in row.recorded:
        beneath = y + RECORDED_IN
        axes.plot(
            within(low, high, (low_x, high_x)), [beneath] * 2, color=GREY, linewidth=0.8, zorder=3.4
        )
        axes.plot(
            [value], [beneath], "*", markerfacecolor="white", markeredgecolor=GREY,
            markersize=7, markeredgewidth=0.8, zorder=3.5,
        )  # fmt: skip
    for x, text, dark in zip(column_x, (row.there, row.here), (INK, row.colour), strict=True):
        missing = text and not text[0].isdigit()
        axes.text(
            x, y, text, transform=beside, ha="right", va="center",
            color=GREY if missing else dark, fontsize=6.8 if missing else 8.5,
            style="italic" if missing else "normal",
        )  # fmt: skip
    if row.note:
        axes.text(
            0.0, y + ROW_IN / 2 + 0.03, row.note, transform=beside, va="center", color=WARNING,
            fontsize=7.5, style="italic", bbox=OVER,
        )  # fmt: skip

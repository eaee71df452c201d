"""The picture of rates against ceilings: what is declared, and what moved meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from benchbook.report.plots.marks import LEGEND_IN, legend
from benchbook.report.plots.palette import GREY, INK
from benchbook.report.plots.style import WIDTH_IN, Picture, as_picture, drawing

PAIR_IN, BAR_IN, MARK_IN, FOOT_IN = 0.5, 0.1, 0.16, 0.42
WIDE = 0.96  # of the picture
LETTER_IN = 0.063  # of a ceiling's name
WORDS_IN = 1.35  # what the longest words beside a bar need


@dataclass(frozen=True)
class Bar:
    """A rate with its words; `state` is empty for what was counted or measured."""

    value: float | None
    text: str
    state: str = ""


@dataclass(frozen=True)
class Pair:
    """One method of one variant: its declared rate with its interval, and what it moved."""

    label: str
    colour: str
    declared: Bar
    low: float | None
    high: float | None
    moved: Bar | None
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Mark:
    """A ceiling."""

    value: float
    label: str


def roof(
    name: str, alt: str, pairs: Sequence[Pair], marks: Sequence[Mark], unit: str
) -> Picture | None:
    """Two bars for each pair from 0, and the marks upright; simulated bars are hatched."""
    values = [
        bar.value for pair in pairs for bar in (pair.declared, pair.moved) if bar and bar.value
    ]
    values += [mark.value for mark in marks] + [pair.high for pair in pairs if pair.high]
    if not values:
        return None
    pitch = PAIR_IN if any(pair.moved for pair in pairs) else PAIR_IN - BAR_IN
    inside = pitch * len(pairs)
    head = MARK_IN * len(marks) + 0.06
    names = [name for pair in pairs for name in pair.marks]
    foot = FOOT_IN + (LEGEND_IN if names else 0)
    tall = head + inside + foot
    with drawing(tall) as figure:
        legend(figure, names)
        wide_in = WIDTH_IN * WIDE
        axes = figure.add_axes((0.02, foot / tall, WIDE, inside / tall))
        axes.set_xlim(0, max(values) * wide_in / (wide_in - WORDS_IN))
        axes.set_ylim(inside, 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(unit, fontsize=8)
        ends = axes.get_xlim()[1]
        axes.set_xticks([tick for tick in axes.get_xticks() if tick < 0.97 * ends])
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        for k, mark in enumerate(marks):
            _mark(axes, mark, (len(marks) - k) * MARK_IN, inside)
        for k, pair in enumerate(pairs):
            _pair(axes, pair, k * pitch)
        return as_picture(figure, name, alt)


def _mark(axes: Axes, mark: Mark, above_in: float, inside_in: float) -> None:
    """A line through all bars, its name above them on a line of its own."""
    axes.plot(
        [mark.value, mark.value], [inside_in, -above_in + 0.04], color=GREY, linewidth=0.8,
        linestyle=(0, (4, 2)), clip_on=False, zorder=1,
    )  # fmt: skip
    text = f"{mark.label} {mark.value:.3g}"
    axes.annotate(
        text, (_place(axes, mark.value, text), -above_in), xytext=(0, -7),
        textcoords="offset points", color=GREY, fontsize=7.5, annotation_clip=False,
    )  # fmt: skip


def _place(axes: Axes, at: float, text: str) -> float:
    """Where a text beside the line `at` begins: right of the line, else left of it, else so that
    the text ends where the picture does."""
    end, wide_in = axes.get_xlim()[1], WIDTH_IN * WIDE
    wide, gap = (inches / wide_in * end for inches in (LETTER_IN * len(text), 0.04))
    if at + gap + wide <= end:
        return at + gap
    return at - gap - wide if at - gap - wide >= 0 else max(0.0, end - wide)


def _pair(axes: Axes, pair: Pair, top: float) -> None:
    axes.text(
        0, top + 0.11, pair.label, color=pair.colour, va="center", fontsize=8, zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip
    _bar(axes, pair.declared, top + 0.2, pair.colour, pair.colour, pair.high or 0)
    middle = top + 0.2 + BAR_IN / 2
    if pair.low is not None and pair.high is not None:
        axes.plot([pair.low, pair.high], [middle, middle], color=INK, linewidth=1.2, zorder=4)
    if pair.moved:
        _bar(axes, pair.moved, top + 0.22 + BAR_IN, INK, pair.colour)


def _bar(axes: Axes, bar: Bar, top: float, counted: str, simulated: str, end: float = 0) -> None:
    """Filled, or hatched where the value was not seen on this machine."""
    if bar.value is not None:
        filled = not bar.state
        axes.add_patch(
            Rectangle((0, top), bar.value, BAR_IN, hatch=None if filled else "/////", zorder=3,
                      facecolor=counted if filled else "white",
                      edgecolor=counted if filled else simulated, linewidth=0.0 if filled else 0.7)
        )  # fmt: skip
    axes.annotate(
        bar.text, (max(bar.value or 0, end), top + BAR_IN / 2), xytext=(4, 0),
        textcoords="offset points", va="center", fontsize=7, color=INK, zorder=5,
        style="italic" if bar.state else "normal",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
    )  # fmt: skip

"""Pictures of a paper's page: what each form read and wrote, and rate by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from benchbook.core.sizes import format_bytes
from benchbook.report.plots.marks import LEGEND_IN, Marked, draw, legend, runs_of, text_of
from benchbook.report.plots.palette import FAINT, GREY, INK, WARNING
from benchbook.report.plots.style import (
    RASTER_FROM,
    Picture,
    as_picture,
    drawing,
    finite,
    label_ends,
    logarithmic,
    spread,
    within,
)

SIZES_IN = 3.5


@dataclass(frozen=True)
class Form:
    """What one method really did, as shares of 1, and in words under its two strips."""

    label: str
    colour: str
    read: float
    written: float
    right: float
    read_words: str
    written_words: str
    marks: Sequence[str] = ()


def strips(name: str, alt: str, forms: Sequence[Form]) -> Picture | None:
    """For each form one strip of its source and one of its destination.

    Filled: read, and written with the right bytes; hatched: written with wrong bytes; empty:
    never touched. What is above 0 is drawn at least 1.2 % wide, or it would not be seen.
    """
    if not forms:
        return None
    pitch, strip = 0.62, 0.2
    total = pitch * len(forms)
    names = [name for form in forms for name in form.marks]
    foot = LEGEND_IN if names else 0.0
    tall = total + 0.3 + foot
    with drawing(tall) as figure:
        legend(figure, names)
        axes = figure.add_axes((0.03, foot / tall, 0.94, total / tall))
        axes.set_xlim(0, 1)
        axes.set_ylim(total, 0)
        axes.axis("off")
        for x, text in ((0.0, "source: blocks read"), (0.53, "destination: what it holds after")):
            axes.text(x, -0.1, text, color=GREY, fontsize=8)
        for k, form in enumerate(forms):
            top = k * pitch
            axes.text(0, top + 0.1, form.label, color=form.colour, va="center")
            for x, good, touched, words in (
                (0.0, form.read, form.read, form.read_words),
                (0.53, form.right, form.written, form.written_words),
            ):
                _strip(axes, x, top + 0.2, 0.47, strip, good, touched, form.colour)
                axes.text(
                    x + 0.47, top + 0.1, words, color=INK, va="center",
                    ha="right", fontsize=7.5,
                )  # fmt: skip
            if form.marks:
                axes.text(
                    0.235, top + 0.3, text_of(form.marks), color=INK, va="center", ha="center",
                    fontsize=7.5, fontweight="bold",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.9},
                )  # fmt: skip
        return as_picture(figure, name, alt)


def _strip(
    axes: Axes, x: float, y: float, wide: float, high: float, good: float, touched: float, ink: str
) -> None:
    seen = [wide * max(part, 0.012) if part > 0 else 0.0 for part in (good, touched)]
    if touched > good:
        axes.add_patch(
            Rectangle((x, y), seen[1], high, facecolor="white", edgecolor=WARNING, hatch="////",
                      linewidth=0)
        )  # fmt: skip
    axes.add_patch(Rectangle((x, y), seen[0], high, facecolor=ink, linewidth=0))
    axes.add_patch(Rectangle((x, y), wide, high, facecolor="none", edgecolor=GREY, linewidth=0.7))


@dataclass(frozen=True)
class Line:
    """Rate by size of one method: (bytes, value, low, high, values of the invocations); `marks`:
    for each of these the names of its findings."""

    label: str
    colour: str
    values: Sequence[tuple[int, float, float | None, float | None, Sequence[float]]]
    dashed: bool = False
    thin: bool = False
    marks: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Level:
    """A ceiling: a rate that memory attained, and by what."""

    rate: float
    label: str


def sizes(
    name: str,
    alt: str,
    lines: Sequence[Line],
    caches: dict[str, int],
    buffers: int,
    unit: str,
    *,
    along: str = "size of the source, and of the destination",
    levels: Sequence[Level] = (),
    rule: int | None = None,
    bracket: tuple[float, float] | None = None,
) -> Picture | None:
    """Rate by size, with lines where all buffers together fill a cache; None without lines.

    `levels` are drawn across, the `rule`'s size upright, and the sizes of `bracket`, between
    which the rate last falls, shaded.
    """
    lines = [line for line in lines if line.values]
    if not lines:
        return None
    every = [point for line in lines for point in line.values]
    names = [name for line in lines for own in line.marks for name in own]
    foot = LEGEND_IN if names else 0.0
    tall = SIZES_IN + foot
    with drawing(tall) as figure:
        legend(figure, names)
        axes = figure.add_axes(
            (0.155, (0.16 * SIZES_IN + foot) / tall, 0.6, 0.755 * SIZES_IN / tall)
        )
        marks = [mark for point in every for mark in finite(*point[1:4], *point[4])]
        marks += finite(*(level.rate for level in levels))
        logarithmic(axes, "y", min(marks), max(marks))
        axes.set_xscale("log", base=2)
        smallest = min(point[0] for point in every)
        largest = max(*(point[0] for point in every), rule or 0)
        axes.set_xlim(smallest / 1.5, largest * 1.5)
        ticks = sorted({point[0] for point in every})
        # Labels of three digits need a ninth of the axis, whatever range it covers.
        ticks = _apart(ticks, (largest / smallest) ** (1 / 9))
        axes.set_xticks(ticks)
        axes.set_xticklabels([format_bytes(size).replace(" ", "\n") for size in ticks])
        axes.minorticks_off()
        axes.set_xlabel(along, fontsize=8)
        axes.set_title(unit, loc="left", color=GREY, fontsize=8, x=-0.2)
        for cache, size in caches.items():
            if smallest / 1.5 < size / max(buffers, 1) < largest * 1.5:
                axes.axvline(size / max(buffers, 1), color=GREY, linewidth=0.8, linestyle=":")
                axes.annotate(
                    f"{cache} full", (size / max(buffers, 1), 1),
                    xycoords=("data", "axes fraction"), xytext=(0, 2),
                    textcoords="offset points", ha="center", color=GREY, fontsize=7.5,
                )  # fmt: skip
        if bracket:
            _bracket(axes, bracket)
        if rule:
            _rule(axes, rule)
        amount = sum(len(point[4]) for point in every)
        for line in lines:
            _line(axes, line, amount)
        # Thin lines repeat the others.
        named = [(line.label, line.colour, *line.values[-1][:2]) for line in lines if not line.thin]
        label_ends(axes, named, font=8)
        _levels(axes, levels)
        draw(axes, [run for line in lines for run in runs_of(_marked(line))])
        return as_picture(figure, name, alt)


def _marked(line: Line) -> list[Marked]:
    marks = line.marks or [()] * len(line.values)
    return [
        Marked(point[0], point[1], names) for point, names in zip(line.values, marks, strict=True)
    ]


def _apart(ticks: list[int], factor: float) -> list[int]:
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= factor * kept[-1]:
            kept.append(tick)
    return kept


def _line(axes: Axes, line: Line, amount: int) -> None:
    at = [point[0] for point in line.values]
    values = [point[1] for point in line.values]
    axes.plot(
        at, values, marker="o", color=line.colour, markersize=2.5 if line.thin else 4,
        linewidth=0.7 if line.thin else 1.6, zorder=4,
        linestyle=(0, (4, 1.5)) if line.dashed else "solid",
    )  # fmt: skip
    for size, _, low, high, dots in line.values:
        ends = within(low, high, axes.get_ylim())
        axes.plot(
            [size, size], ends, color=line.colour, linewidth=0.7 if line.thin else 1.6, alpha=0.8,
            zorder=3,
        )  # fmt: skip
        axes.scatter(
            [size] * len(dots), dots, s=6, color=line.colour, alpha=0.3, linewidths=0, zorder=2,
            rasterized=amount > RASTER_FROM,
        )  # fmt: skip


def _bracket(axes: Axes, bracket: tuple[float, float]) -> None:
    axes.axvspan(*bracket, color=FAINT, alpha=0.6, linewidth=0, zorder=0)
    axes.annotate(
        "last fall", (bracket[0], 0), xycoords=("data", "axes fraction"), xytext=(-3, 4),
        textcoords="offset points", ha="right", color=GREY, fontsize=7.5,
    )  # fmt: skip


def _rule(axes: Axes, rule: int) -> None:
    axes.axvline(rule, color=WARNING, linewidth=1.2, zorder=1)
    axes.annotate(
        f"the rule: {format_bytes(rule)}", (rule, 1), xycoords=("data", "axes fraction"),
        xytext=(2, 12), textcoords="offset points", ha="center", color=WARNING, fontsize=7.5,
    )  # fmt: skip


def _levels(axes: Axes, levels: Sequence[Level]) -> None:
    """Ceilings across the picture, their names over them at the left, moved apart."""
    place = axes.transData + axes.transAxes.inverted()
    at = [place.transform((1, level.rate))[1] for level in levels]
    for level, y in zip(
        levels, spread([height + 0.025 for height in at], 0.05, 0.0, 1.0), strict=True
    ):
        axes.axhline(level.rate, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        axes.text(
            0.012, y, level.label, transform=axes.transAxes, color=GREY, va="center", fontsize=7,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8}, zorder=2,
        )  # fmt: skip

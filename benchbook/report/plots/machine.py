"""Pictures of the machine's noise: anchor and probe over time, what waited, what was disturbed."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from benchbook.core import number_format
from benchbook.report.plots.forest import forest, interval_row
from benchbook.report.plots.palette import FAINT, GREY, INK, PALETTE, WARNING
from benchbook.report.plots.style import Picture, as_picture, drawing, finite, logarithmic

PANEL_IN = 1.15
RASTER_FROM = 300  # marks alike in a panel; as pixels they take no more room, however many
DOT_PT = 3.4
# A state is a colour, as a method is; state 1 is the fastest.
STATES = {1: PALETTE[0], 2: PALETTE[2], 3: PALETTE[4], None: GREY}
Analysis = dict[str, Any]


def over_time(analysis: Analysis) -> Picture | None:
    """Anchor, fixed work, round trips and waiting over the run, disturbed blocks shaded."""
    noise = analysis["disturbance"]
    names = sorted({reading["name"] for reading in analysis["readings"]}, key=_order)
    panels = [
        (name, [reading for reading in analysis["readings"] if reading["name"] == name])
        for name in names
    ]
    # A CPU that is not in use is read once, with the whole matrix: that is no course of time.
    panels = [(name, readings) for name, readings in panels if len(readings) > 1]
    waits = [start for start in noise["starts"] if start["run_delay_fraction"] is not None]
    amount = len(panels) + bool(waits)
    if not amount:
        return None
    start = noise["start_ns"]
    ends = [block["t_end_ns"] for block in noise["blocks"] if block["t_end_ns"]]
    ends += [reading["t_ns"] for reading in analysis["readings"]]
    ends += [wait["t_start_ns"] for wait in waits]
    last = max(((end - start) / 1e9 for end in ends), default=1.0) * 1.02
    with drawing(PANEL_IN * amount + 0.35) as figure:
        tall = PANEL_IN * amount + 0.35
        for k in range(amount):
            bottom = (tall - PANEL_IN * (k + 1) + 0.16) / tall
            axes = figure.add_axes((0.14, bottom, 0.83, (PANEL_IN - 0.42) / tall))
            axes.set_xlim(0, last)
            _shade(axes, noise, start)
            if k < len(panels):
                _readings(axes, *panels[k], start)
            else:
                _waits(axes, waits, noise["thresholds"], start)
            if k == amount - 1:
                axes.set_xlabel("seconds since the run began", fontsize=8)
            else:
                axes.set_xticklabels([])
        counts = ", ".join(f"{name}: {len(readings)} readings" for name, readings in panels)
        disturbed = sum(block["state"] == "disturbed" for block in noise["blocks"])
        alt = (
            f"The machine's state over the run. {counts}. "
            f"{number_format.plural(disturbed, 'disturbed block')} of {len(noise['blocks'])}."
        )
        return as_picture(figure, f"noise-{analysis['experiment']}", alt)


def _order(name: str) -> tuple[int, str]:
    kinds = ("anchor", "work", "pair")
    return next((i for i, kind in enumerate(kinds) if name.startswith(kind)), len(kinds)), name


def _title(axes: Axes, text: str) -> None:
    # As far above the axis as its highest number reaches.
    axes.set_title(text, loc="left", fontsize=8, color=INK, x=-0.14, pad=7)


def _shade(axes: Axes, noise: dict[str, Any], start: int) -> None:
    corners: list[tuple[float, float]] = []
    for block in noise["blocks"]:
        if block["state"] != "ok" and block["t_end_ns"]:
            low, high = ((block[key] - start) / 1e9 for key in ("t_start_ns", "t_end_ns"))
            corners += [(low, 0), (high, 0), (high, 1), (low, 1), (low, 0)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    if corners:
        bands = Path(corners, codes * (len(corners) // len(codes)))
        shape = PathPatch(bands, facecolor=FAINT, alpha=0.55, linewidth=0, zorder=0)
        shape.set_rasterized(len(corners) > RASTER_FROM)
        axes.add_patch(shape)
        shape.set_transform(axes.get_xaxis_transform())


def _dots(axes: Axes, at: list[float], values: list[float], colour: str, zorder: int) -> None:
    """Dots as one path of lines without length, with round ends: a tenth of the bytes of marks."""
    if not at:
        return
    places = [place for position in zip(at, values, strict=True) for place in (position, position)]
    path = Path(places, [Path.MOVETO, Path.LINETO] * len(at))
    path.should_simplify = False
    dots = PathPatch(
        path, facecolor="none", edgecolor=colour, linewidth=DOT_PT, capstyle="round", zorder=zorder
    )
    dots.set_rasterized(len(at) > RASTER_FROM)
    axes.add_patch(dots)


def _readings(axes: Axes, name: str, readings: list[dict[str, Any]], start: int) -> None:
    unit, per = ("ms", 1e6) if name == "anchor" else ("ns", 1.0)
    words = {
        "anchor": "reference copy",
        "work": "fixed work, CPU",
        "pair": "cache line there and back, CPUs",
    }
    kind, _, rest = name.partition(" ")
    _title(axes, f"{words.get(kind, name)} {rest}".strip() + f" ({unit})")
    values = [reading["value"] / per for reading in readings]
    for state, colour in STATES.items():
        mine = [reading for reading in readings if reading["state"] == state]
        at = [(reading["t_ns"] - start) / 1e9 for reading in mine]
        _dots(axes, at, [reading["value"] / per for reading in mine], colour, 3)
    marks = finite(*values)
    if marks:
        logarithmic(axes, "y", min(marks), max(marks), 4)
    axes.tick_params(labelsize=7.5)


def _waits(axes: Axes, waits: list[dict[str, Any]], thresholds: dict[str, Any], start: int) -> None:
    _title(axes, "wait for a CPU in each run (% of the timed part)")
    at = [(wait["t_start_ns"] - start) / 1e9 for wait in waits]
    values = [100 * wait["run_delay_fraction"] for wait in waits]
    limit = 100 * thresholds["run_delay_fraction"]
    axes.vlines(at, 0, values, color=GREY, linewidth=1, rasterized=len(at) > RASTER_FROM)
    for colour, above in ((GREY, False), (WARNING, True)):
        mine = [k for k, value in enumerate(values) if (value > limit) == above]
        _dots(axes, [at[k] for k in mine], [values[k] for k in mine], colour, 3 + above)
    axes.axhline(limit, color=WARNING, linewidth=0.8, linestyle="--")
    axes.set_ylim(0, max([*values, limit]) * 1.15 or 1)
    axes.tick_params(labelsize=7.5)


def twins(name: str, nulls: list[tuple[str, dict[str, Any]]]) -> Picture | None:
    """A/A and relinked intervals: twins that should lie at 1."""
    rows = [
        interval_row(
            f"{label}: {text}", null[twin], number_format.plural(null[twin]["blocks"], "round")
        )
        for label, null in nulls
        for twin, text in (("again", "same binary twice"), ("relinked", "relinked"))
        if null[twin]
    ]
    rows_in_words = "; ".join(f"{row.label} {row.here}" for row in rows)
    alt = f"Ratios of control measurements that should be 1. {rows_in_words}."
    return forest(
        name, alt, rows, unit="ratio of rates", label_at_1="1", columns=("", "ratio"), above=True
    )

"""The picture of a measurement over runs: one dot a run, a line for each stretch between steps."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.ticker import MaxNLocator

from benchbook.report.plots.palette import GREY, INK, PALETTE, WARNING
from benchbook.report.plots.style import Picture, as_picture, drawing, logarithmic

HIGH_IN = 1.7


def over_runs(
    name: str, alt: str, values: Sequence[float], steps: Sequence[int], unit: str
) -> Picture:
    """Values above zero of runs, the oldest first. `steps` are the runs, counted from 0, from which
    on the value is another: a dotted line is drawn before each."""
    with drawing(HIGH_IN) as figure:
        axes = figure.add_axes((0.14, 0.24, 0.82, 0.6))
        logarithmic(axes, "y", min(values), max(values), 4)
        axes.set_xlim(0.5, len(values) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("run, the oldest first", fontsize=8)
        axes.set_title(unit, loc="left", color=GREY, fontsize=8, x=-0.14)
        axes.plot(range(1, len(values) + 1), values, "o", color=PALETTE[0], markersize=3)
        ends = [0, *steps, len(values)]
        for first, end in pairwise(ends):
            middle = statistics.median(values[first:end])
            axes.plot([first + 0.6, end + 0.4], [middle] * 2, color=INK, linewidth=0.9)
        for step in steps:
            axes.axvline(step + 0.5, color=WARNING, linewidth=0.9, linestyle=":")
        return as_picture(figure, name, alt)

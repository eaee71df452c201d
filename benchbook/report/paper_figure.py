"""One published table with its rerun, for a notebook: its picture, values and single runs."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from benchbook.report.figure_tables import figure_csv, runs_csv
from benchbook.report.plots.style import Picture
from benchbook.report.render import part


@dataclass(frozen=True)
class PaperFigure:
    """What `paper.figure(name)` returns; Jupyter shows it as its title and its picture.

    `table` has a row for each published value, `runs` one for each run of a program behind them.
    Columns carry their units in their names; `attrs` of both hold paper, figure, title, unit and
    `published`, which says what the source printed.
    """

    content: dict[str, Any] = field(repr=False)  # the figure as paper.json has it
    paper: str
    title: str
    picture: Picture | None = field(repr=False)

    @property
    def id(self) -> str:
        """Its name in paper.yaml."""
        return str(self.content["id"])

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return str(self.content["y_unit"])

    @property
    def points(self) -> list[str]:
        """The points that rerun it, each once."""
        return points_of(self.content)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each published value: printed, rerun with its 95 % interval, ratios, state."""
        return self._frame(figure_csv(self.content))

    @property
    def runs(self) -> pd.DataFrame:
        """A row for each run of a program: its value, and whether other programs disturbed it."""
        return self._frame(runs_csv(self.content))

    def _frame(self, text: str) -> pd.DataFrame:
        frame = pd.read_csv(io.StringIO(text))
        frame.attrs |= {
            "paper": self.paper,
            "figure": self.id,
            "title": self.content["title"],
            "unit": self.unit,
            "published": self.content["published"],
        }
        return frame

    def _repr_html_(self) -> str:
        return part("notebook_figure", figure=self).html


def points_of(figure: dict[str, Any]) -> list[str]:
    """The points that rerun a figure of paper.json, each once."""
    points = [row["point"] for row in figure["rows"] if row["point"]]
    return list(dict.fromkeys([*points, *(p for row in figure["ranges"] for p in row["points"])]))

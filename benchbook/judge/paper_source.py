"""What a published paper declares, read once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.define.models import Cell, Figure, OpenFigure, Paper, Sizing, Sweep
from benchbook.define.published import read_table, waiting
from benchbook.define.yaml_files import parse
from benchbook.judge.figures import cell

ABOUT = ("title", "author", "date", "kind", "language", "answer", "conditions")


@dataclass(frozen=True)
class PaperSource:
    """paper.yaml of one paper, below `root`: what pages say of it in `about`, the figures that are
    judged, those that wait for a rerun, and its sweeps. `sizing` is its rule for buffers.

    `as_written` has the figures by id as mappings, for what takes them so: their claims, whose
    estimands are planned from them, and imported logs.
    """

    root: Path
    name: str
    about: dict[str, Any]
    figures: list[Figure]
    waiting: list[OpenFigure]
    sweeps: list[Sweep]
    sizing: Sizing | None
    as_written: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, root: Path, name: str, wanted: str = "") -> PaperSource:
        """The paper, or of its figures only the one that `wanted` names as paper/figure: then
        without what stands apart from figures."""
        content = catalogue.paper(root, name)
        paper = parse(content, Paper, name)
        return cls(
            root=root,
            name=name,
            about={key: getattr(paper, key) for key in ABOUT} | {"caution": paper.caution or ""},
            figures=[
                figure for figure in paper.figures if not wanted or wanted == f"{name}/{figure.id}"
            ],
            waiting=[] if wanted else paper.open,
            sweeps=[] if wanted else paper.sweeps,
            sizing=paper.sizing,
            as_written={figure["id"]: figure for figure in content["figures"]},
        )

    def waiting_figures(self) -> list[dict[str, Any]]:
        """Figures without a rerun, with their tables."""
        return [waiting(self.root, self.name, figure.model_dump()) for figure in self.waiting]

    def number(self, wanted: dict[str, Any]) -> float:
        """The number in a cell that a claim names."""
        named = Cell.model_validate(wanted)
        table = read_table(self.root, self.name, named.table)
        return float(cell(table, named.row, named.column, f"{self.name}/{named.table}"))

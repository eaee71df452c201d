"""What a published paper declares, read once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.define.published import read_table, waiting
from benchbook.judge.figures import cell

ABOUT = ("title", "author", "date", "kind", "language", "answer", "conditions")


@dataclass(frozen=True)
class PaperSource:
    """paper.yaml of one paper, below `root`: what pages say of it in `about`, the figures that are
    judged, those that wait for a rerun, and its sweeps. `sizing` is its rule for buffers."""

    root: Path
    name: str
    about: dict[str, Any]
    figures: list[dict[str, Any]]
    waiting: list[dict[str, Any]]
    sweeps: list[dict[str, Any]]
    sizing: dict[str, Any] | None

    @classmethod
    def read(cls, root: Path, name: str, wanted: str = "") -> PaperSource:
        """The paper, or of its figures only the one that `wanted` names as paper/figure: then
        without what stands apart from figures."""
        paper = catalogue.paper(root, name)
        return cls(
            root=root,
            name=name,
            about={key: paper[key] for key in ABOUT} | {"caution": paper.get("caution", "")},
            figures=[
                figure
                for figure in paper["figures"]
                if not wanted or wanted == f"{name}/{figure['id']}"
            ],
            waiting=[] if wanted else paper.get("open", []),
            sweeps=[] if wanted else paper.get("sweeps", []),
            sizing=paper.get("sizing"),
        )

    def waiting_figures(self) -> list[dict[str, Any]]:
        """Figures without a rerun, with their tables."""
        return [waiting(self.root, self.name, figure) for figure in self.waiting]

    def number(self, wanted: dict[str, Any]) -> float:
        """The number in a cell that a claim names."""
        table = read_table(self.root, self.name, wanted["table"])
        origin = f"{self.name}/{wanted['table']}"
        return float(cell(table, wanted["row"], wanted["column"], origin))

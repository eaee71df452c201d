"""What a published paper declares, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.define.models import Cell, Figure, OpenFigure, Paper, Sizing, Sweep
from benchbook.define.published import read_table, waiting
from benchbook.define.yaml_files import parse
from benchbook.judge.figures import cell

ABOUT = (
    *("title", "title_is_ours", "author", "date", "kind", "language"),
    *("url", "read", "answer", "conditions"),
)
MAY_BE_EMPTY = ("gloss", "url_note", "caution", "question")


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
        about = {key: getattr(paper, key) for key in ABOUT}
        about |= {key: getattr(paper, key) or "" for key in MAY_BE_EMPTY}
        thesis, remarks = content.get("thesis"), content.get("remarks", [])
        about["thesis"] = thesis and _resting_on(root, name, thesis)
        about["remarks"] = [_resting_on(root, name, remark) for remark in remarks]
        return cls(
            root=root,
            name=name,
            about=about,
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

    def with_cells(self, statement: Mapping[str, Any]) -> dict[str, Any]:
        """A statement of the source as paper.json has it: {verbatim, translation, note} as written,
        and of a reading {table, column, cells}, the cells as printed."""
        return _with_cells(self.root, self.name, statement)


def _resting_on(root: Path, name: str, sentence: dict[str, Any]) -> dict[str, Any]:
    return {**sentence, "source": _with_cells(root, name, sentence["source"])}


def _with_cells(root: Path, name: str, statement: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: statement.get(key, "") for key in ("verbatim", "translation", "note")},
        "reading": [_printed(root, name, cells) for cells in statement.get("reading", [])],
    }


def _printed(root: Path, name: str, cells: dict[str, Any]) -> dict[str, Any]:
    table, column = cells["table"], cells["column"]
    rows = read_table(root, name, table)
    origin = f"{name}/{table}"
    if wanted := cells.get("rows"):
        printed = [cell(rows, row, column, origin) for row in wanted]
    else:
        printed = [row[column] for row in rows]
    return {"table": table, "column": column, "cells": printed}

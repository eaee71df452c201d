"""The command `benchbook page`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Output
from benchbook.report.notebook_export import make_page


def command(
    notebook: Path,
    output: Output,
    paper: Annotated[Path, typer.Option()],
    executed: Annotated[Path, typer.Option()],
    alone: Annotated[
        bool, typer.Option("--alone", help="without links to other pages, so that it can be sent")
    ] = False,
    index: Annotated[Path | None, typer.Option(help="an index that gets this page too")] = None,
) -> None:
    """Execute a paper's notebook and export it as one page."""
    papers = _names if index else None
    make_page(notebook, paper, executed, output, alone=alone, papers=papers)
    if index:
        # Loaded by then: notebook_export.LOADED_MEANWHILE.
        from benchbook.report.index_page import make_index_so_far

        make_index_so_far(_names(), paper.parent.parent, index)
    print(f"ready: {output}", file=sys.stderr)


def _names() -> list[str]:
    """The names of all papers in their order."""
    from benchbook.define.catalogue import in_turn

    return in_turn(ROOT)

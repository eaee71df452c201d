"""The command `benchbook index`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import Output
from benchbook.report.index_page import make_index


def command(papers: list[Path], controls: Annotated[Path, typer.Option()], output: Output) -> None:
    """Write reports/index.html from all papers and controls.json."""
    make_index(papers, controls, output)

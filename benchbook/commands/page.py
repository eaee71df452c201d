"""The command `benchbook page`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import Output
from benchbook.report.notebook_export import make_page


def command(
    notebook: Path,
    output: Output,
    paper: Annotated[Path, typer.Option()],
    executed: Annotated[Path, typer.Option()],
    alone: Annotated[bool, typer.Option("--alone", help="to be sent: no way to an index")] = False,
) -> None:
    """Execute a paper's notebook and export it as one page."""
    make_page(notebook, paper, executed, output, alone=alone)

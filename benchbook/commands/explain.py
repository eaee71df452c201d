"""The command `benchbook explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.explain_start import explain as run
from benchbook.commands.options import AsJson, CacheSize


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="- is standard input")],
    l3: CacheSize = "",
    host: Annotated[
        str, typer.Option(help="where it ran: 'here', a host with results, or its plan.json")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read what any benchmark printed, and say what is wrong with it."""
    run(files, l3, host, as_json=as_json)

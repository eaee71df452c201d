"""The command `benchbook import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, CacheSize
from benchbook.explain.api import keep_log, machine_of


def command(
    file: Annotated[Path, typer.Argument(help="- is standard input")],
    name: Annotated[str, typer.Option("--as", help="what the run is called on pages")],
    l3: CacheSize = "",
    host: Annotated[str, typer.Option(help="where it ran, as with explain")] = "",
) -> None:
    """Keep a log from another machine, to be shown next to your own figures."""
    print(keep_log(ROOT, file, name, machine_of(ROOT, l3, host)))

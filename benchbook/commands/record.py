"""The command `benchbook record`."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.records.archive import record as run


def command(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="an experiment, or a run")],
) -> None:
    """Copy complete runs to data/recorded, with checksums, to keep them in the repository."""
    for path in run(ROOT, names):
        print(path)

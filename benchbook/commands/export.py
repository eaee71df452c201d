"""The command `benchbook export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.core.errors import BenchbookError
from benchbook.host import facts


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EXPERIMENT|PAPER]…", help="all where none is named"),
    ] = None,
    rocrate: Annotated[
        Path | None, typer.Option(help="write a Workflow Run RO-Crate: a new folder, or a .zip")
    ] = None,
    preset: Annotated[str, typer.Option(help="whose results")] = "quick",
    host: Annotated[str, typer.Option(help="whose results; this machine's if not named")] = "",
) -> None:
    """Write what was measured so that others can check it: without names of people and machines."""
    if rocrate is None:
        raise BenchbookError("nothing to export; name --rocrate")
    from benchbook.crate.export import export

    done = export(ROOT, rocrate, names or [], host or facts.host_id(facts.facts()), preset)
    print(f"{done.path}: {done.files} files, {done.size / 1e6:.1f} MB")
    for name in done.renamed:
        print(f"names replaced in {name}")
    print(f"check it anywhere: benchbook verify {done.path}")

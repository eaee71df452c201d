"""The command `benchbook explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.explain_start import explain as run
from benchbook.commands.options import AsJson, CacheSize


def command(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE…", help="- is standard input")
    ] = None,
    l3: CacheSize = "",
    host: Annotated[
        str,
        typer.Option(help="the machine it ran on: 'here', a host with results, or its plan.json"),
    ] = "",
    formats: Annotated[bool, typer.Option("--formats", help="list what can be read")] = False,
    as_json: AsJson = False,
) -> None:
    """Read what a benchmark printed, and say what is wrong with it.

    It reads the output of the programs that --formats lists, whole or in part, and messages of
    programs that failed. The text may come out of a ticket, a mail or a CI log. It states what the
    text decides. What is missing for a decision it asks for, or leaves out. Of two files it also
    says what differs: versions, settings, commands, and the ratio of each figure that both have.
    """
    if not files and not formats:
        raise typer.BadParameter("name a file, or - for standard input", param_hint="FILE…")
    run(files or [], l3, host, as_json=as_json, formats=formats)

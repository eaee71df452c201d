"""The command `benchbook hosts`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.report.hosts_page import make_hosts

PAGE = Path("reports/hosts.html")


def command(
    preset: Annotated[
        str, typer.Argument(metavar="PRESET", help="tiny, quick, paper or PRESET/figures/PAPER/ID")
    ],
    kinds: Annotated[str, typer.Option(help="kinds of nodes to list first, as JSON")] = "[]",
    output: Annotated[Path, typer.Option(help="the file to write")] = PAGE,
) -> None:
    """Write reports/hosts.html: the verdicts of all hosts with results, in one table."""
    make_hosts(ROOT.absolute(), json.loads(kinds), preset, output)
    print(output)

"""The command `benchbook judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Output
from benchbook.judge.stage import judge as run


def command(
    paper: str,
    output: Output,
    analyses: Annotated[list[Path] | None, typer.Argument()] = None,
    figure: Annotated[str, typer.Option()] = "",
    preset: Annotated[str, typer.Option()] = "",
    host: Annotated[str, typer.Option()] = "",
    recorded: Annotated[list[Path] | None, typer.Option()] = None,
) -> None:
    """Write a paper's figures with reruns and verdicts."""
    run(ROOT, paper, figure, analyses or [], output, {"preset": preset, "host": host}, recorded)

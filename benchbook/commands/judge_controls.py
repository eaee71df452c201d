"""The command `benchbook judge-controls`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Output
from benchbook.controls.score import judge_all as run


def command(
    output: Output, analyses: Annotated[list[Path] | None, typer.Argument()] = None
) -> None:
    """controls.json: provoked, detected, abstained, false alarms."""
    run(ROOT, analyses or [], output)

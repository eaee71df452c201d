"""The command `benchbook evidence`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import Output, Parent
from benchbook.core.processes import follow_parent
from benchbook.evidence.stage import collect


def command(
    pointer: Path,
    output: Output,
    limits: Annotated[list[Path] | None, typer.Argument()] = None,
    parent: Parent = None,
) -> None:
    """Collect observations of a run, count or simulate its points, and make its trials."""
    follow_parent(parent)
    collect(pointer, limits or [], output)

"""The command `benchbook analyse`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.analyse.stage import analyse as run
from benchbook.commands.options import Output


def command(
    pointer: Path,
    samples: Annotated[Path, typer.Option()],
    evidence: Annotated[Path, typer.Option()],
    output: Output,
) -> None:
    """Estimates, states and findings of a run."""
    run(pointer, samples, evidence, output)

"""The command `benchbook analyse`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.analyse.stage import analyse as run
from benchbook.analyse.tables import write_samples
from benchbook.commands.options import Output


def command(
    pointer: Path,
    samples: Annotated[Path, typer.Option(help="the table of samples that is written")],
    evidence: Annotated[Path, typer.Option()],
    output: Output,
) -> None:
    """Write a run's samples as one table, and its estimates, states and findings."""
    write_samples(pointer, samples)
    run(pointer, samples, evidence, output)

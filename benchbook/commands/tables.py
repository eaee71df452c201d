"""The command `benchbook tables`."""

from __future__ import annotations

from pathlib import Path

from benchbook.analyse.tables import write_samples
from benchbook.commands.options import Output


def command(pointer: Path, output: Output) -> None:
    """Write a run's samples as one table."""
    write_samples(pointer, output)

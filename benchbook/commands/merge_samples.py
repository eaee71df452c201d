"""The command `benchbook merge-samples`."""

from __future__ import annotations

from pathlib import Path

from benchbook.analyse.tables import merge_samples as run
from benchbook.commands.options import Output


def command(files: list[Path], output: Output) -> None:
    """All experiments' samples in one table."""
    run(files, output)

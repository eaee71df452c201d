"""The command `benchbook merge-findings`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.judge.stage import merge_findings as run


def command(analyses: list[Path], output: Output) -> None:
    """findings.json over all experiments."""
    run(analyses, output)

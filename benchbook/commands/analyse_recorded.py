"""The command `benchbook analyse-recorded`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import ROOT, Output
from benchbook.judge.recorded_runs import analyse_recorded as make


def command(run: Path, output: Output) -> None:
    """Analyse a recorded run anew, to be shown next to the figures; or say why it cannot be."""
    make(ROOT, run, output)

"""The command `benchbook analyse-recorded`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import ROOT, Output
from benchbook.judge.recorded_runs import analyse_recorded as make


def command(run: Path, output: Output) -> None:
    """A recorded run analysed anew, to stand beside figures; or why it cannot."""
    make(ROOT, run, output)

"""The command `benchbook controls-page`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.report.index_page import make_controls


def command(controls: Path, output: Output) -> None:
    """reports/controls.html out of controls.json."""
    make_controls(controls, output)

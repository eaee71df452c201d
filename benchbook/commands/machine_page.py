"""The command `benchbook machine-page`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.report.machine_page import make_machine


def command(files: list[Path], output: Output) -> None:
    """reports/machine.html out of analyses, and papers for their twins."""
    make_machine(files, output)

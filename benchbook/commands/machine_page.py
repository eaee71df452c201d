"""The command `benchbook machine-page`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.report.machine_page import make_machine


def command(files: list[Path], output: Output) -> None:
    """Write reports/machine.html from analyses, and from papers for their A/A tests."""
    make_machine(files, output)

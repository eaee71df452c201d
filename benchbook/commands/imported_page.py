"""The command `benchbook imported-page`."""

from __future__ import annotations

from benchbook.commands.options import ROOT, Output
from benchbook.report.imported_page import make_imported


def command(output: Output) -> None:
    """reports/imported.html out of data/imported."""
    make_imported(ROOT, output)

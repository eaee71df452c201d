"""The command `benchbook audit`."""

from __future__ import annotations

from benchbook.audit import write
from benchbook.commands.options import ROOT, Output


def command(output: Output) -> None:
    """Write audit.json: recompute the printed numbers of all papers."""
    write(ROOT, output)

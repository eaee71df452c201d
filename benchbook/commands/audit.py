"""The command `benchbook audit`."""

from __future__ import annotations

from benchbook.audit import write
from benchbook.commands.options import ROOT, Output


def command(output: Output) -> None:
    """audit.json: the own numbers of all papers, recomputed."""
    write(ROOT, output)

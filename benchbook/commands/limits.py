"""The command `benchbook limits`."""

from __future__ import annotations

from benchbook.build.link_limits import find_limits
from benchbook.commands.options import ROOT, Output


def command(experiment: str, output: Output) -> None:
    """Search the sizes at which static arrays no longer link; a refusal is a result."""
    find_limits(ROOT, experiment, output)

"""The command `benchbook measure`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import ROOT, Output, Parent, Settings
from benchbook.core.processes import follow_parent
from benchbook.define.settings import settings_of_json
from benchbook.measure.stage import measure as run


def command(
    experiment: str,
    variants: list[Path],
    settings: Settings,
    output: Output,
    parent: Parent = None,
) -> None:
    """Measure one experiment unless a complete run of this plan exists."""
    follow_parent(parent)
    run(ROOT.absolute(), experiment, settings_of_json(settings), variants, output)

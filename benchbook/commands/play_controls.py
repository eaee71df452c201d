"""The command `benchbook play-controls`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Parent, Settings
from benchbook.controls.run import play_all
from benchbook.core.processes import follow_parent
from benchbook.define.settings import settings_of_json


def command(
    controls: list[str],
    settings: Settings,
    results: Annotated[Path, typer.Option(help="folder of this host and preset")],
    parent: Parent = None,
) -> None:
    """Measure controls unless their runs exist, and analyse them."""
    follow_parent(parent)
    play_all(ROOT.absolute(), controls, settings_of_json(settings), results)

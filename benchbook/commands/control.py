"""The command `benchbook control`."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.commands.config_option import Config, overrides
from benchbook.commands.options import ROOT
from benchbook.controls.run import try_one
from benchbook.core.processes import follow_parent


def command(
    artefact: str,
    config: Config = None,
    seeds: Annotated[int, typer.Option(help="how many seeds its replay gets, if it has one")] = 3,
) -> None:
    """Play one control again on this machine, and print what the detectors found."""
    follow_parent(None)
    try_one(ROOT.absolute(), artefact, overrides(config), seeds)

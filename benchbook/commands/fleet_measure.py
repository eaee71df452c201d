"""The command `benchbook fleet-measure`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Output, Parent, Settings
from benchbook.core.processes import follow_parent
from benchbook.fleet.stages import measure_kind


def command(
    kind: str,
    settings: Settings,
    output: Output,
    here: Annotated[bool, typer.Option("--here", help="this node is the kind")] = False,
    parent: Parent = None,
) -> None:
    """Build and measure everything on this node, for a kind of nodes."""
    follow_parent(parent)
    measure_kind(ROOT.absolute(), kind, here, json.loads(settings), output)

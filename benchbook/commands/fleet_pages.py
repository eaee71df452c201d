"""The command `benchbook fleet-pages`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, Output, Settings
from benchbook.fleet.node_checkout import node_checkout
from benchbook.fleet.outcome import read_outcome
from benchbook.fleet.stages import make_kind_pages


def command(
    kind: str,
    settings: Settings,
    output: Output,
    cores: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """Analyse what a kind of nodes measured, and make its pages."""
    root = ROOT.absolute()
    outcome = read_outcome(node_checkout(root, kind), kind)
    make_kind_pages(root, outcome, json.loads(settings), output, cores)

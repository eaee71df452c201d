"""The command `benchbook keep-count`."""

from __future__ import annotations

from benchbook.commands.options import ROOT
from benchbook.controls.campaign import keep


def command() -> None:
    """Keep what `make test-long` has counted here, so that other hosts go on from there."""
    print(keep(ROOT))

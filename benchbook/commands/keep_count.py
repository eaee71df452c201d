"""The command `benchbook keep-count`."""

from __future__ import annotations

from benchbook.commands.options import ROOT
from benchbook.controls.campaign import keep


def command() -> None:
    """Store the counts of `make test-long` in the repository, so that other hosts add to them."""
    print(keep(ROOT))

"""The command `benchbook build`."""

from __future__ import annotations

import sys

from benchbook.build.stage import build_variant
from benchbook.commands.options import ROOT, Output


def command(experiment: str, variant: str, output: Output) -> None:
    """Compile one variant; a failed compile is a result."""
    record = build_variant(ROOT, experiment, variant, output)
    if record["state"] != "ok":
        print(f"{experiment}/{variant}: {record['state']}: {record['reason']}", file=sys.stderr)

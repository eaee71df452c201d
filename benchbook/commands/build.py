"""The command `benchbook build`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.build.stage import build_variants
from benchbook.commands.options import ROOT


def command(outputs: list[Path]) -> None:
    """Compile the variants of build/<owner>/<variant>/variant.json, on every CPU; a failed compile
    is a result."""
    for record in build_variants(ROOT, outputs):
        if record["state"] != "ok":
            about = f"{record['experiment']}/{record['variant']}"
            print(f"{about}: {record['state']}: {record['reason']}", file=sys.stderr)

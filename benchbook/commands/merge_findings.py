"""The command `benchbook merge-findings`."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.core.files import read_json, write_json

VERSION = 1


def command(analyses: list[Path], output: Output) -> None:
    """findings.json over all experiments."""
    items = [
        {**finding, "experiment": analysis["experiment"]}
        for analysis in map(read_json, analyses)
        for finding in analysis["findings"]
    ]
    write_json(output, {"version": VERSION, "items": items})

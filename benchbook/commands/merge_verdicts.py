"""The command `benchbook merge-verdicts`: the reasons of claims become sentences."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.report.verdicts_file import write_verdicts


def command(papers: list[Path], output: Output) -> None:
    """verdicts.json over all papers."""
    write_verdicts(papers, output)

"""The command `benchbook merge-verdicts`: the reasons of claims become sentences."""

from __future__ import annotations

from pathlib import Path

from benchbook.commands.options import Output
from benchbook.core.files import write_json
from benchbook.judge.paper_json import read_paper
from benchbook.report.reasons import with_sentences

VERSION = 1


def command(papers: list[Path], output: Output) -> None:
    """verdicts.json over all papers."""
    items = [
        with_sentences(claim)
        for path in papers
        for figure in read_paper(path)["figures"]
        for claim in figure["claims"]
    ]
    write_json(output, {"version": VERSION, "items": items})

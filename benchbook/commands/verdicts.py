"""`benchbook merge-verdicts`: the claims of all papers in one file, their reasons as sentences."""

from __future__ import annotations

from pathlib import Path

from benchbook.core.files import write_json
from benchbook.judge.paper_json import read_paper
from benchbook.report.reasons import with_sentences

VERSION = 1


def merge(papers: list[Path], output: Path) -> None:
    """Write verdicts.json from these paper.json."""
    items = [
        with_sentences(claim)
        for path in papers
        for figure in read_paper(path)["figures"]
        for claim in figure["claims"]
    ]
    write_json(output, {"version": VERSION, "items": items})

"""verdicts.json: the claims of all papers, their reasons as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchbook.core.files import write_json
from benchbook.judge.paper_json import read_paper
from benchbook.report.reasons import with_sentences

VERSION = 1


def write_verdicts(papers: Iterable[Path], output: Path) -> None:
    """Write verdicts.json out of each paper's paper.json."""
    items = [
        with_sentences(claim)
        for path in papers
        for figure in read_paper(path)["figures"]
        for claim in figure["claims"]
    ]
    write_json(output, {"version": VERSION, "items": items})

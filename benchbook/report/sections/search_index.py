"""Every claim, figure and finding of all papers, with where to read it: what the index searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.report import artefacts, wording
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import source_words
from benchbook.report.wording import Paper


@dataclass(frozen=True)
class Entry:
    """A line of the index: `verdict` is a claim's, `effect` a finding's, `detail` follows."""

    kind: str
    text: str
    where: str
    paper: str
    detail: str = ""
    verdict: str = ""
    effect: str = ""


def entries(papers: list[Paper]) -> list[Entry]:
    """Claims first, then figures, findings, and the figures that are open."""
    return [
        *(entry for paper in papers for entry in _claims(paper)),
        *(entry for paper in papers for entry in _figures(paper)),
        *(entry for paper in papers for entry in _findings(paper)),
        *(entry for paper in papers for entry in _open(paper)),
    ]


def _claims(paper: Paper) -> Iterator[Entry]:
    for claim in wording.all_claims(paper):
        value = claims_section.value(claim)
        yield Entry(
            kind="claim",
            text=wording.capitalised(claim["text"].strip()),
            where=f"{paper['paper']}.html#{claim['figure']}-{claim['claim']}",
            paper=source_words.title(paper),
            detail=f"here {value}" if claim["estimate"] is not None else "",
            verdict=claims_section.verdict(claim),
        )


def _figures(paper: Paper) -> Iterator[Entry]:
    for figure in paper["figures"]:
        yield Entry(
            kind="figure",
            text=figure["title"],
            where=f"{paper['paper']}.html#{figure['id']}",
            paper=source_words.title(paper),
            detail=figure["published"],
        )


def _findings(paper: Paper) -> Iterator[Entry]:
    marks = findings_section.marks_of(paper)
    for mark in (*marks.every, *marks.run):
        yield Entry(
            kind="finding",
            text=f"{wording.capitalised(artefacts.title(mark.artefact))}: {mark.heading}",
            where=f"{paper['paper']}.html#{mark.anchor}",
            paper=source_words.title(paper),
            detail=mark.sentence,
            effect=mark.effect,
        )


def _open(paper: Paper) -> Iterator[Entry]:
    for figure in paper.get("open", []):
        yield Entry(
            kind="figure",
            text=figure["title"],
            where=f"{paper['paper']}-details.html#{figure['id']}",
            paper=source_words.title(paper),
            detail=f"{figure['published']} (open: {figure['why']})",
        )

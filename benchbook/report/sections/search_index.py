"""Every claim, figure and finding of all papers, with where to read it: what the index searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.report import wording
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.wording import Paper


@dataclass(frozen=True)
class Entry:
    """One line. `verdict` of a claim, `effect` of a finding; `said` what follows the text."""

    kind: str
    text: str
    where: str
    paper: str
    said: str = ""
    verdict: str = ""
    effect: str = ""


def entries(papers: list[Paper]) -> list[Entry]:
    """Claims first, then figures, findings, and the figures that are open."""
    return [
        *(one for paper in papers for one in _claims(paper)),
        *(one for paper in papers for one in _figures(paper)),
        *(one for paper in papers for one in _findings(paper)),
        *(one for paper in papers for one in _open(paper)),
    ]


def _claims(paper: Paper) -> Iterator[Entry]:
    for claim in wording.claims(paper):
        value = claims_section.value(claim)
        yield Entry(
            kind="claim",
            text=wording.upper(claim["text"].strip()),
            where=f"{paper['paper']}.html#{claim['figure']}-{claim['claim']}",
            paper=paper["title"],
            said=f"here {value}" if claim["estimate"] is not None else "",
            verdict=claims_section.verdict(claim),
        )


def _figures(paper: Paper) -> Iterator[Entry]:
    for figure in paper["figures"]:
        yield Entry(
            kind="figure",
            text=figure["title"],
            where=f"{paper['paper']}.html#{figure['id']}",
            paper=paper["title"],
            said=figure["published"],
        )


def _findings(paper: Paper) -> Iterator[Entry]:
    found = findings_section.of(paper)
    for mark in (*found.every, *found.run):
        yield Entry(
            kind="finding",
            text=f"{mark.artefact}: {mark.heading}",
            where=f"{paper['paper']}.html#{mark.anchor}",
            paper=paper["title"],
            said=mark.sentence,
            effect=mark.effect,
        )


def _open(paper: Paper) -> Iterator[Entry]:
    for one in paper.get("open", []):
        yield Entry(
            kind="figure",
            text=one["title"],
            where=f"{paper['paper']}.html#{one['id']}",
            paper=paper["title"],
            said=f"{one['published']} (open: {one['why']})",
        )

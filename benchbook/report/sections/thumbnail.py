"""The small picture on a paper's card: what its page opens with, in a few lines."""

from __future__ import annotations

from dataclasses import replace

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.forest import Row, forest
from benchbook.report.plots.style import Picture
from benchbook.report.sections import answer as answer_section
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import grids, paper_panels
from benchbook.report.wording import Paper

ROWS = 4  # of a picture that is taken in at a glance


def small(paper: Paper) -> Picture | None:
    """The leading claim's figure as ratios, else the claims' own, else only what is published."""
    return _of_figure(paper, 1) or _of_claims(paper) or _of_grid(paper) or _of_figure(paper, 0)


def _of_figure(paper: Paper, least: int) -> Picture | None:
    """The picture of the first figure with at least `least` rows rerun; the leading claim's figure
    is looked at first."""
    first = answer_section.leading(paper)
    figures = [figure for figure in paper["figures"] if figure["rows"] and not figure["grid"]]
    leading = [figure for figure in figures if first and figure["id"] == first["figure"]]
    for figure in leading + figures:
        rows = _few(paper_panels.ratio_rows(paper, figure))
        if rows and sum(row.value is not None for row in rows) >= least:
            base = wording.row_name(figure, figure["rows"][0])
            unit = f"{figure['quantity']} ÷ {figure['quantity']} of {base}"
            return _forest(paper, f"{figure['title']}, {unit}", rows, unit)
    return None


def _of_claims(paper: Paper) -> Picture | None:
    shown = [
        claim
        for claim in wording.all_claims(paper)
        if claim["kind"] in claims_section.RATIOS and claim["estimate"] is not None
    ]
    rows = [replace(paper_panels.claim_row(paper, claim), bounds=None) for claim in shown[:ROWS]]
    units = {claim["unit"] for claim in shown[:ROWS]}
    unit = units.pop() if len(units) == 1 else "ratio"
    return _forest(paper, "Claims", rows, unit, above=True) if rows else None


def _of_grid(paper: Paper) -> Picture | None:
    pictures = (grids.picture(paper, figure) for figure in paper["figures"] if figure["grid"])
    first = next((picture for picture in pictures if picture), None)
    return replace(first, name=f"small-{paper['paper']}") if first else None


def _few(rows: list[Row]) -> list[Row]:
    """At most ROWS rows, those that were rerun before others, without names of findings."""
    measured = [row for row in rows if row.value is not None]
    others = [row for row in rows if row.value is None]
    chosen = (measured + others)[:ROWS]
    return [_not_simulated(row) for row in rows if row in chosen]


def _not_simulated(row: Row) -> Row:
    """The row without a value that only stands for another, and without names of findings."""
    if not row.emulated:
        return replace(row, marks=())
    bare = replace(row, marks=(), dots=(), value=None, low=None, high=None, emulated=False)
    return replace(bare, here=number_format.NONE)


def _forest(
    paper: Paper, about: str, rows: list[Row], unit: str, *, above: bool = False
) -> Picture | None:
    rows_in_words = "; ".join(
        f"{row.label}: published {row.there}, here {row.here}" for row in rows
    )
    alt = f"{answer_section.headline(paper)}. {about}. {rows_in_words}."
    bare = [replace(row, marks=()) for row in rows]
    return forest(f"small-{paper['paper']}", alt, bare, unit=unit, label_at_1="1", above=above)

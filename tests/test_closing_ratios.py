"""A reader who divides the two sides of a ratio finds the ratio that is printed next to them."""

from __future__ import annotations

import html
import re
from typing import Any

import made_up
import pytest
from closing_ratios import not_closing, printed_ratios

from benchbook.judge.paper_json import read_paper
from benchbook.report import notebook_export, paper_page

PAPERS = (made_up.PAPER, made_up.STREAM, made_up.UDP)


def text_of(markup: str) -> str:
    """What a reader sees, one block a line, without pictures and files."""
    for pattern in (r"<(style|script|svg).*?</\1>", r'href="data:[^"]*"'):
        markup = re.sub(pattern, "", markup, flags=re.DOTALL)
    markup = re.sub(r"</(p|li|td|th|dd|dt|h\d|summary|figcaption)>", ".\n", markup)
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


@pytest.fixture(scope="module", params=PAPERS)
def page(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], str]:
    """paper.json of a paper, and what a reader of its page sees."""
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        paper = made_up.results(folder, preset="quick", paper=request.param)
        patch.setenv(paper_page.VARIABLE, str(paper))
        notebook = made_up.ROOT / "notebooks" / f"{request.param}.ipynb"
        markup = notebook_export.export(made_up.executed_here(notebook), "")
    return read_paper(paper), text_of(markup)


def test_every_ratio_on_a_page_closes(page: tuple[dict[str, Any], str]) -> None:
    paper, text = page
    assert not_closing(text) == []
    if paper["paper"] == made_up.PAPER:
        assert list(printed_ratios(text))


def test_published_ratios_are_those_of_the_cells_next_to_them(
    page: tuple[dict[str, Any], str],
) -> None:
    """Those of the rerun are paired, and their column says so."""
    paper, text = page
    rows = [row for figure in paper["figures"] for row in figure["rows"] if row["printed_ratio"]]
    for figure in paper["figures"]:
        bases = {}
        for row in figure["rows"]:
            base = bases.setdefault(row["group"], row)
            if row["printed_ratio"]:
                ratio = float(row["printed"]) / float(base["printed"])
                assert row["printed_ratio"] == pytest.approx(ratio)
    assert rows
    assert len(re.findall(r"÷ [^<]*, paired", text)) >= len(
        re.findall(r"÷ [^<]*published → here", text)
    )


def test_nothing_of_ours_stands_in_quotation_marks(page: tuple[dict[str, Any], str]) -> None:
    """A claim of ours stood there as the words of a source that never makes it."""
    paper, text = page
    claims = [claim for figure in paper["figures"] for claim in figure["claims"]]
    ours = [paper["answer"], paper["thesis"]["text"], *(claim["text"] for claim in claims)]
    ours += [remark["text"] for remark in paper["remarks"]]
    ours += [figure["title"] for figure in paper["figures"]]
    ours += [paper["title"]] if paper["title_is_ours"] else []
    plain = {" ".join(words.split()).rstrip(".") for words in ours}
    quoted = {" ".join(words.split()).rstrip(".") for words in re.findall("“([^”]*)”", text)}
    assert quoted
    assert not quoted & plain


def test_a_ratio_that_does_not_close_is_found() -> None:
    """It was printed on a page, with the paired ratio between two sides of other estimates."""
    assert not_closing("59.7 GB/s is 5.5 times the best that was attained (12.5 GB/s)")
    assert not not_closing("59.7 GB/s is 4.8 times the best that was attained (12.5 GB/s)")
    sides = "block copy shows 131,300 MiB/s at 32 MiB, whole copy 21,600 (medians of the runs): "
    assert not not_closing(f"{sides}6.08 times as much.")
    assert not_closing(f"{sides}7.4 times as much.")

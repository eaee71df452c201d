"""A reader who divides the two sides of a ratio finds the ratio that is printed next to them."""

from __future__ import annotations

import html
import re
from pathlib import Path

import made_up
import pytest
from closing_ratios import not_closing, printed_ratios

from benchbook.report import notebook_export, paper_page

PAPERS = (made_up.PAPER, made_up.STREAM, made_up.UDP)


def text_of(markup: str) -> str:
    """What a reader sees, one block a line, without pictures and files."""
    for pattern in (r"<(style|script|svg).*?</\1>", r'href="data:[^"]*"'):
        markup = re.sub(pattern, "", markup, flags=re.DOTALL)
    markup = re.sub(r"</(p|li|td|th|dd|dt|h\d|summary|figcaption)>", ".\n", markup)
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


@pytest.mark.parametrize("name", PAPERS)
def test_every_ratio_on_a_page_closes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made_up.ROOT)
    paper = made_up.results(tmp_path, preset="quick", paper=name)
    monkeypatch.setenv(paper_page.VARIABLE, str(paper))
    notebook = made_up.ROOT / "notebooks" / f"{name}.ipynb"
    text = text_of(notebook_export.export(made_up.executed_here(notebook), ""))
    assert not_closing(text) == []
    if name == made_up.PAPER:
        assert list(printed_ratios(text))


def test_a_ratio_that_does_not_close_is_found() -> None:
    """It was printed on a page, with the paired ratio between two sides of other estimates."""
    assert not_closing("59.7 GB/s is 5.5 times the best that was attained (12.5 GB/s)")
    assert not not_closing("59.7 GB/s is 4.8 times the best that was attained (12.5 GB/s)")
    sides = "block copy shows 131,300 MiB/s at 32 MiB, whole copy 21,600 (medians of the runs): "
    assert not not_closing(f"{sides}6.08 times as much.")
    assert not_closing(f"{sides}7.4 times as much.")

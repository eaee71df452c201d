"""Words of a page in another script are marked with their language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import opened
from playwright.sync_api import Browser

from benchbook.report import foreign_words
from benchbook.report.render import TEMPLATES, frame


def test_words_of_the_paper_are_marked_and_markup_is_not() -> None:
    html = '<p title="題">size サイズ, 半二重 a</p><svg><text>題</text></svg>'
    assert foreign_words.marked(html, "ja") == (
        '<p title="題">size <span class="foreign" lang="ja">サイズ</span>, '
        '<span class="foreign" lang="ja">半二重</span> a</p><svg><text>題</text></svg>'
    )


@pytest.mark.parametrize("language", ["en", "de", ""])
def test_pages_of_other_languages_stay_as_they_are(language: str) -> None:
    assert foreign_words.marked("<p>日本 µs “a”</p>", language) == "<p>日本 µs “a”</p>"


def test_signs_that_english_pages_use_are_no_foreign_words() -> None:
    text = "<p>7.2 µs × 2 – “a” ÷ ≤ ◇ … 5 %</p>"
    assert foreign_words.marked(text, "zh") == text


def test_where_no_font_has_them_their_language_stands_instead(
    tmp_path: Path, browser: Browser
) -> None:
    """Boxes stood there; this machine may have such a font or not, so that either is right."""
    body = foreign_words.marked("<p>size サイズ</p>", "ja")
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><html lang='en'><head><title>t</title>{frame().head}</head>"
        f"<body>{body}{frame().script}</body></html>",
        encoding="utf-8",
    )
    shown = opened(browser, page, 800)
    size = shown.evaluate("getComputedStyle(document.querySelector('.foreign')).fontSize")
    lacking = shown.evaluate("document.documentElement.classList.contains('no-font')")
    shown.close()
    assert (size == "0px") == lacking
    assert re.search(r"no-font", (TEMPLATES / "style.css").read_text(encoding="utf-8"))

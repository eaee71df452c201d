"""The contents of a page, and what stays in sight, folds and prints of a long one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat
from browser import opened
from conftest import ROOT

from benchbook.report import notebook_export
from benchbook.report.render import frame
from benchbook.report.table_of_contents import PLACE, with_contents

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

LONG = "".join(
    f'<h2>Part &amp; {k}</h2><section id="s{k}"><h3>Below {k} <a href="#s{k}">#</a></h3>'
    f'<p style="height:900px">text</p></section>'
    for k in range(5)
)


def page(body: str) -> str:
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>{frame().head}'
    return f"{head}<body>{PLACE}<main>{body}</main></body></html>"


def test_headings_are_listed_and_lead_to_their_places() -> None:
    body = '<h2 id="own">Own</h2><div id="at-part-3"></div><h2>Part</h2><h2>Part</h2>'
    html = with_contents(page(body + LONG))
    assert PLACE not in html
    links = re.findall(r'<li><a href="#([^"]+)">([^<]*)</a>', html)
    assert links[:3] == [("own", "Own"), ("at-part", "Part"), ("at-part-2", "Part")]
    assert links[3:5] == [("at-part-amp-0", "Part &amp; 0"), ("s0", "Below 0")]
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert {anchor for anchor, _ in links} <= set(ids)


def test_a_short_page_has_no_contents() -> None:
    assert "<nav" not in with_contents(page("<h2>a</h2><h2>b</h2>"))


def test_contents_stay_in_sight_at_every_width(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(with_contents(page(LONG)), encoding="utf-8")
    for width in (1440, 768, 375):
        shown = opened(browser, path, width, java_script_enabled=width != 768)
        shown.click('.contents a[href="#at-part-amp-3"]')
        contents, heading = (
            box
            for name in (".contents", "#at-part-amp-3")
            if (box := shown.locator(name).bounding_box())
        )
        assert contents["y"] == 0
        # The heading that was asked for is in sight, and the contents do not lie over it.
        assert 0 <= heading["y"] < 300
        above = contents["y"] + contents["height"] <= heading["y"]
        assert above or contents["x"] + contents["width"] <= heading["x"]
        shown.close()


def test_what_is_folded_is_printed(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    folded = "<details><summary>more</summary><p id='in'>what is folded</p></details>"
    path.write_text(with_contents(page(LONG + folded)), encoding="utf-8")
    shown = opened(browser, path, java_script_enabled=False)
    height = "document.querySelector('details').getBoundingClientRect().height"
    before = shown.evaluate(height)
    shown.emulate_media(media="print")
    assert shown.evaluate(height) > before + 10
    box = shown.locator(".contents").bounding_box()
    assert box is not None
    assert box["height"] > 100  # a list among the text
    shown.close()


def test_a_page_made_alone_leads_to_no_index() -> None:
    text = '# A page\n<a href="machine.html#noise">The machine</a> <a href="#here">here</a>'
    cells = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    assert 'href="index.html"' in notebook_export.export(cells, "")
    alone = notebook_export.export(cells, None)
    assert "The machine " in alone
    assert '<a href="#here">' in alone
    assert ".html" not in alone
    example = (ROOT / "docs/example/slocum2013-mbw.html").read_text(encoding="utf-8")
    assert "index.html" not in example

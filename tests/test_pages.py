"""Pages as a reader sees them, in a real browser, out of made-up results."""

from __future__ import annotations

import copy
import csv
import itertools
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import made_up
import made_up_evidence
import numpy as np
import pytest
from browser import OPEN, PAPER, WIDTH, WIDTHS, look, look_without_script, opened, violations
from markup import faults
from playwright.sync_api import Browser

from benchbook.core import number_format
from benchbook.core.files import write_text
from benchbook.judge.paper_json import read_paper
from benchbook.report import index_page, machine_page, notebook_export, paper_page, wording
from benchbook.report.plots import palette
from benchbook.report.render import TEMPLATES
from benchbook.report.sections import findings as findings_section

NOTEBOOK = made_up.ROOT / "notebooks" / f"{made_up.PAPER}.ipynb"
FIGURE = "mbw-1.2.2-b4096-8"
# A table of methods by sizes, with claims, flags, limits and trials; and almost nothing of it.
STREAM_CASES: dict[str, dict[str, Any]] = {
    "stream": {"preset": "quick", "spread": 0.004},
    "stream-bare": {"preset": "tiny", "bare": True},
}
# Whole, and with a start of each that failed.
UDP_CASES: dict[str, dict[str, Any]] = {
    "round-trips": {"preset": "quick"},
    "lost-trips": {"preset": "quick", "failing": "switches=2|wait=spin", "bare": True, "blocks": 4},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """reports/ of several results: whole, tiny, half failed, nothing at all, one figure."""
    top = tmp_path_factory.mktemp("site")
    cases: dict[str, dict[str, Any]] = {
        "whole": {"preset": "quick"},
        "tiny": {"preset": "tiny", "spread": 0.2},
        "broken": {"preset": "quick", "failing": "8388608|loop", "bare": True, "blocks": 4},
        "empty": {"preset": "tiny", "failing": ".", "bare": True},
        "figure": {"preset": "quick", "figure": f"{made_up.PAPER}/{FIGURE}"},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        patch.setenv("MPLBACKEND", "agg")
        for name, case in cases.items():
            paper = made_up.results(top / name, **case)
            folder = f"figures/{made_up.PAPER}" if name == "figure" else "."
            output = top / name / "reports" / folder / f"{made_up.PAPER}.html"
            patch.setenv(paper_page.VARIABLE, str(paper))
            if name == "whole":
                notebook_export.make_page(
                    NOTEBOOK, paper, paper.with_name("executed.ipynb"), output
                )
            elif name == "figure":  # as above, without another kernel
                patch.setattr(notebook_export, "execute", executed_here)
                notebook_export.make_page(
                    NOTEBOOK, paper, paper.with_name("executed.ipynb"), output
                )
            else:
                write_text(output, notebook_export.export(made_up.executed_here(NOTEBOOK), ""))
            if name != "figure":
                controls = made_up.controls(top / name / "controls.json")
                index_page.make_controls(controls, output.with_name("controls.html"))
                index_page.make_index([paper], controls, output.with_name("index.html"))
                files = [top / name / "mbw" / "analysis.json", paper]
                machine_page.make_machine(files, output.with_name("machine.html"))
        for name, case in STREAM_CASES.items():
            other_page(top / name, made_up.STREAM, "stream", case, patch)
        for name, case in UDP_CASES.items():
            other_page(top / name, made_up.UDP, "udp", case, patch)
    return top


def executed_here(notebook: Path, paper: Path, executed: Path, then: str) -> Any:
    """What `reports.execute` does, in this process."""
    cells = made_up.executed_here(notebook)
    exec(then)
    return cells


def other_page(
    folder: Path, named: str, experiment: str, case: dict[str, Any], patch: pytest.MonkeyPatch
) -> None:
    """The page of another paper, with the pages about the machine and all papers."""
    paper = made_up.results(folder, paper=named, **case)
    output = folder / "reports" / f"{named}.html"
    patch.setenv(paper_page.VARIABLE, str(paper))
    cells = made_up.executed_here(NOTEBOOK.with_name(f"{named}.ipynb"))
    write_text(output, notebook_export.export(cells, ""))
    if folder.name == "stream":
        names = f"{named}.html", notebook_export.details_name(f"{named}.html")
        for name, text in zip(names, notebook_export.export_pair(cells, names[0]), strict=True):
            write_text(folder.with_name("pair") / name, text)
    controls = made_up.controls(folder / "controls.json")
    index_page.make_index([paper], controls, output.with_name("index.html"))
    files = [folder / experiment / "analysis.json", paper]
    machine_page.make_machine(files, output.with_name("machine.html"))


def pages(site: Path) -> list[Path]:
    """Every page; the figures' folders hold a page too."""
    return sorted(site.rglob("*.html"))


@pytest.fixture(scope="module")
def looks(site: Path, browser: Browser) -> dict[Path, dict[str, Any]]:
    """What is seen of every page, each opened once."""
    return {path: look(browser, path) for path in pages(site)}


@pytest.fixture(scope="module")
def without_script(site: Path, browser: Browser) -> dict[Path, dict[str, Any]]:
    """What is seen of whole pages with JavaScript off, in the dark."""
    return {path: look_without_script(browser, path) for path in whole(site)}


def whole(site: Path) -> list[Path]:
    """A page of every kind, with all its parts."""
    papers = {"whole": made_up.PAPER, "stream": made_up.STREAM, "round-trips": made_up.UDP}
    pages = [site / folder / "reports" / f"{paper}.html" for folder, paper in papers.items()]
    others = ("index", "machine", "controls")
    return pages + [site / "whole/reports" / f"{name}.html" for name in others]


def test_every_page_fits_the_width_and_nothing_overlaps_or_is_cut_off(looks: dict) -> None:
    for path, seen in looks.items():
        sound(path, seen)


def test_pages_are_as_sound_and_say_the_same_in_the_dark_without_javascript(
    looks: dict, without_script: dict
) -> None:
    for path, seen in without_script.items():
        sound(path, seen)
        assert seen["text"] == looks[path]["text"], path
        assert len(seen["text"]) > 300
        assert seen["paper"] == "rgb(22, 24, 27)", path


def in_all(looks: dict, path: Path) -> str:
    """What a paper's page and the page of its details say, with all folds open."""
    details = path.with_name(notebook_export.details_name(path.name))
    return str(looks[path]["unfolded"]) + str(looks.get(details, {"unfolded": ""})["unfolded"])


def html_of(path: Path) -> str:
    """The page and the page of its details, as they are written."""
    details = path.with_name(notebook_export.details_name(path.name))
    files = [file for file in (path, details) if file.exists()]
    return "".join(file.read_text(encoding="utf-8") for file in files)


def sound(path: Path, seen: dict[str, Any]) -> None:
    """Asserts that a page fits every width, draws nothing over anything, and asks for nothing."""
    assert all(needed <= width for width, needed in seen["widths"].items()), path
    assert set(seen["widths"]) == set(WIDTHS)
    assert seen["overlaps"] == [], path
    assert seen["cut_off"] == [], path
    assert seen["messages"] == [], path
    assert seen["requests"] == [path.as_uri()]


@pytest.mark.skipif(os.environ.get("BENCHBOOK_DOOR") == "nix", reason="nixpkgs has no axe")
def test_axe_finds_nothing_in_light_or_dark(site: Path, browser: Browser) -> None:
    for path in whole(site):
        assert violations(browser, path) == [], path


FAINT = """<!doctype html><html lang=en><title>t</title><style>
body { color: #111; background: #fff } i { color: #222 } .box :last-child { color: #ddd }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #111 } .b { color: #222 } }
</style><main><h1>heading</h1><p>one</p><p>two</p><p style="color: #ddd">three</p>
<p class=b>four</p><div class=box><i>five</i><i>six</i><i>seven</i></div>
<button></button></main></html>"""


@pytest.mark.skipif(os.environ.get("BENCHBOOK_DOOR") == "nix", reason="nixpkgs has no axe")
def test_axe_finds_the_one_faint_text_of_many(browser: Browser, tmp_path: Path) -> None:
    """Contrast is asked of one text of those that lie in the same parts with the same colours."""
    page = tmp_path / "faint.html"
    page.write_text(FAINT)
    found = violations(browser, page)
    for line in (
        "light: button-name: <button></button>",
        'light: color-contrast: <p style="color: #ddd">three</p>',
        "light: color-contrast: <i>seven</i>",
        'dark: color-contrast: <p class="b">four</p>',
        "dark: color-contrast: <i>five</i>",
    ):
        assert line in found
    assert not [line for line in found if line.startswith("light") and "<i>five" in line]


def test_markup_is_sound(site: Path) -> None:
    for path in pages(site):
        assert faults(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    "wrong",
    [
        "<p>a<div>b</p></div>",
        "<table><tr><td colspan=2>a</td></tr><tr><td>b</td></tr></table>",
        "<ul><li>a</ul></b>",
    ],
)
def test_unsound_markup_is_found(wrong: str) -> None:
    page = "<!doctype html><html lang=en><head><title>t</title></head><body>{}</body></html>"
    assert faults(page.format("<p>a</p>")) == []
    assert faults(page.format(wrong))


def test_pictures_hold_marks(site: Path, browser: Browser) -> None:
    shown = opened(browser, site / "whole/reports" / f"{made_up.PAPER}-details.html", 1280)
    pictures = shown.query_selector_all("figure svg[role=img]")
    # Overview, forms, odd pairs, what moved, four tables, the sweep, the topology, and the chains
    # of causes of what begs one here.
    chains = shown.query_selector_all(".chain figure svg")
    assert len(pictures) - len(chains) == 10
    assert chains
    for svg in pictures:
        box = svg.bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 80
        marks = svg.evaluate(
            """svg => [...svg.querySelectorAll('use, path')].filter(mark => {
                 const box = mark.getBoundingClientRect();
                 return !mark.closest('defs') && box.width + box.height > 1;
               }).length"""
        )
        label = svg.get_attribute("aria-label") or ""
        # A socket, a cache, two cores: a small machine is no more.
        assert marks >= (4 if label.startswith("Topology.") else 10), label
    shown.close()


def test_a_page_is_six_screens_and_its_charts_as_wide_as_the_column(
    site: Path, browser: Browser
) -> None:
    for page in (
        site / "whole/reports" / f"{made_up.PAPER}.html",
        site / "pair" / f"{made_up.STREAM}.html",
    ):
        shown = opened(browser, page, 1440)
        assert shown.evaluate("document.documentElement.scrollHeight") <= 6 * 900
        assert len(shown.inner_text("body").split()) <= 3000
        charts = shown.query_selector_all("section.chart-of > figure > table.chart")
        visible = [box for chart in charts if (box := chart.bounding_box())]
        assert visible
        assert all(box["width"] >= 900 for box in visible)
        shown.close()


def test_a_page_of_details_is_short_with_its_folds_closed_and_has_each_part_once(
    site: Path, browser: Browser
) -> None:
    page = site / "pair" / notebook_export.details_name(f"{made_up.STREAM}.html")
    shown = opened(browser, page, 1440)
    assert shown.evaluate("document.documentElement.scrollHeight") <= 12 * 900
    assert len(shown.inner_text("body").split()) <= 3000
    headings = [heading.inner_text() for heading in shown.query_selector_all("main h2")]
    assert len(headings) == len(set(headings))
    # A link to what is folded opens it.
    (folded, *_) = shown.query_selector_all("main details.chart-of[id]")
    assert folded.get_attribute("open") is None
    shown.goto(f"{page.as_uri()}#{folded.get_attribute('id')}")
    assert shown.query_selector(f"[id='{folded.get_attribute('id')}'][open]") is not None
    shown.close()


def test_a_page_of_many_claims_and_figures_is_six_screens_and_hides_no_verdict(
    site: Path, tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    figures = copy.deepcopy(paper["figures"])
    for number in range(1, 4):
        for figure in copy.deepcopy(figures):
            figure["id"] += f"-{number}"
            for claim in figure["claims"]:
                claim["figure"] = figure["id"]
            paper["figures"].append(figure)
    many = tmp_path / "paper.json"
    many.write_text(json.dumps(paper), encoding="utf-8")
    monkeypatch.chdir(made_up.ROOT)
    monkeypatch.setenv(paper_page.VARIABLE, str(many))
    cells = made_up.executed_here(NOTEBOOK)
    page = tmp_path / f"{made_up.PAPER}.html"
    for path, text in zip(
        (page, tmp_path / notebook_export.details_name(page.name)),
        notebook_export.export_pair(cells, page.name),
        strict=True,
    ):
        write_text(path, text)
    shown = opened(browser, page, 1440)
    assert shown.evaluate("document.documentElement.scrollHeight") <= 6 * 900
    assert len(shown.inner_text("body").split()) <= 3000
    every = shown.locator(".claim")
    verdicts = {str(claim.get_attribute("class")).split()[1] for claim in every.all()}
    kept = shown.locator(".claim:visible")
    assert kept.count() < every.count()
    assert {str(claim.get_attribute("class")).split()[1] for claim in kept.all()} == verdicts
    shown.locator("#show-every").check()
    assert kept.count() == every.count()
    folded = shown.locator("details.chart-of")
    assert folded.count() > 0
    folded.first.locator("> summary").click()
    assert folded.first.locator("table.chart").first.is_visible()
    shown.close()
    hidden = f"{paper['figures'][-1]['id']}-{paper['figures'][-1]['claims'][-1]['claim']}"
    led = browser.new_page(viewport={"width": 1440, "height": 900})
    led.goto(f"{page.as_uri()}#{hidden}")
    assert led.locator(f"[id='{hidden}']").is_visible()
    led.close()
    assert violations(browser, page) == []
    assert faults(page.read_text(encoding="utf-8")) == []


def test_values_are_read_on_hover_and_focus_and_claims_are_filtered_without_a_script(
    site: Path, browser: Browser
) -> None:
    page = site / "whole/reports" / f"{made_up.PAPER}.html"
    shown = opened(browser, page, java_script_enabled=False)
    row = shown.locator(f"[id='{FIGURE}'] .focus").first
    assert not row.locator(".tip").is_visible()
    row.focus()
    assert "published" in row.locator(".tip").inner_text()
    every = shown.locator(".claim:visible").count()
    kind = shown.locator(".filter input").nth(1)
    kind.check()
    verdict = str(kind.get_attribute("id")).removeprefix("show-")
    kept = shown.locator(".claim:visible")
    assert 0 < kept.count() < every
    assert shown.locator(f".claim.{verdict}").count() == kept.count()
    kept.first.locator("summary").click()
    assert "Counts as holding" in kept.first.inner_text()
    shown.close()


def test_a_sweep_is_zoomed_by_keys_and_by_the_mouse(site: Path, browser: Browser) -> None:
    page = site / "round-trips/reports" / f"{made_up.UDP}.html"
    shown = opened(browser, page)
    box = shown.locator(".scroll.zoom").first
    status = box.locator("xpath=following-sibling::p").locator("[role=status]")
    places = """box => [...box.querySelectorAll('svg text, svg path, svg use')].map(
      part => part.getBoundingClientRect().x)"""
    whole = box.evaluate(places)
    box.focus()
    shown.keyboard.press("+")
    assert status.inner_text() == "1.5 times as large"
    assert box.evaluate(places) != whole
    shown.keyboard.press("0")
    assert status.inner_text() == ""
    assert sorted(box.evaluate(places)) == pytest.approx(sorted(whole), abs=1)
    picture = box.locator("svg").first
    picture.scroll_into_view_if_needed()
    seen = picture.bounding_box()
    assert seen is not None
    across, down = ([seen[side] + seen[size] * share for share in (0.3, 0.5)]
                    for side, size in (("x", "width"), ("y", "height")))  # fmt: skip
    shown.mouse.move(across[0], down[0])
    shown.mouse.down()
    shown.mouse.move(across[1], down[1])
    shown.mouse.up()
    assert status.inner_text().endswith("times as large")
    shown.close()
    still = opened(browser, page, java_script_enabled=False)
    assert still.locator(".scroll.zoom svg").first.is_visible()
    assert still.locator(".zooming").count() == 0
    still.close()


def test_no_page_is_larger_than_two_megabytes(site: Path) -> None:
    for path in pages(site):
        assert path.stat().st_size < 2_000_000, path


def test_an_old_address_still_leads_to_what_moved(site: Path, browser: Browser) -> None:
    page = site / "whole/reports" / f"{made_up.PAPER}.html"
    shown = opened(browser, page)
    shown.goto(f"{page.as_uri()}#audit")
    shown.wait_for_url("**-details.html#audit")
    assert shown.locator("#audit").count() == 1
    shown.close()


def test_every_invocation_is_drawn(site: Path) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    figure = paper["figures"][0]
    svg = paper_page.PaperPage(paper).pictures()[figure["id"]].svg
    dots = sum(len(row["invocations"]) for row in figure["rows"])
    assert dots == 24
    assert len(re.findall(r"<use ", svg)) >= dots + 2 * len(figure["rows"])


def test_no_page_and_no_picture_leads_outside(site: Path) -> None:
    assert len(pages(site)) == 32
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        outside = re.sub(r'<a class="source" href="https?://[^"]*"', "", text)
        assert not re.search(r"https?:", outside, re.IGNORECASE), path
        assert text.count("<script") == 1, path
        assert "<script>" + (TEMPLATES / "page.js").read_text(encoding="utf-8") in text, path
        assert not re.search(r"(src|href)=\"//", text), path
    for path in site.rglob("*.svg"):
        text = path.read_text(encoding="utf-8")
        # A file that stands alone needs its name spaces, and nothing else.
        assert re.sub(r' xmlns(:xlink)?="[^"]*"', "", text).count("http") == 0, path
        assert "<metadata" not in text
        assert "<!DOCTYPE" not in text


def test_structure_is_readable_by_machines(looks: dict) -> None:
    """Language, one first heading, no level left out, names on pictures and boxes, unique ids."""
    for path, seen in looks.items():
        assert seen["language"] == "en"
        assert seen["title"]
        levels = seen["levels"]
        assert levels.count(1) == 1, path
        assert levels[0] == 1, path
        assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), path
        assert seen["unnamed"] == 0, path
        assert len(seen["ids"]) == len(set(seen["ids"])), path
        assert seen["empty"] == 0, path
        assert seen["unscoped"] == [], path
        assert {"main", "footer"} <= set(seen["landmarks"]), path


def test_local_links_lead_somewhere(site: Path) -> None:
    for path in pages(site / "whole"):
        for link in re.findall(r'href="([^"#][^"]*)"', path.read_text(encoding="utf-8")):
            if link.startswith(("data:", "http")):  # the second: to the source itself
                continue
            file, _, anchor = link.partition("#")
            target = path.parent / file
            assert target.exists(), f"{path}: {link}"
            assert not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8"), link


def test_links_within_a_page_lead_somewhere(site: Path, looks: dict) -> None:
    for path, seen in looks.items():
        named = set(re.findall(r'href="#([^"]+)"', path.read_text(encoding="utf-8")))
        assert named <= set(seen["ids"]), path


def test_the_audit_is_counted_in_the_answer_and_on_the_index(site: Path, looks: dict) -> None:
    audit = read_paper(site / "stream" / made_up.STREAM / "paper.json")["audit"]
    wrong = [check for check in audit if not check["consistent"]]
    many = len({check["slip"]["slip"] for check in wrong})
    reports = site / "stream/reports"
    text = looks[reports / f"{made_up.STREAM}.html"]["text"]
    answered, _, section = text.partition("The source’s own numbers")
    assert f"Of {len(audit)} checks of the source’s own numbers {len(wrong)} disagree" in answered
    counted = f"{len(wrong)} of {len(audit)} checks of the source’s own numbers disagree: "
    assert f"{counted}{many} distinct slips" in section
    assert f"{counted}{many} distinct slips" in looks[reports / "index.html"]["text"]
    whole = looks[site / "whole/reports" / f"{made_up.PAPER}.html"]["text"]
    assert "distinct slip" not in whole


def test_exchanged_labels_are_told_where_their_ratio_is_read(site: Path, looks: dict) -> None:
    for name, here in (("whole", "Swapped labels would"), ("tiny", "was not measured here")):
        text = in_all(looks, site / name / "reports" / f"{made_up.PAPER}.html")
        assert text.count("A possible explanation: MEMCPY and DUMB exchanged") == 1
        assert text.count("may come from the two labels being exchanged") == 4
        assert "DUMB shows 2.56 times MEMCPY in print" in text
        assert here in text
        assert "whether the author’s builds were alike is unknown" in text


def test_the_answer_is_quoted_from_the_results(site: Path, browser: Browser) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    claim = wording.all_claims(paper)[0]
    ratio = number_format.number(claim["estimate"], *claim["interval"])
    shown = opened(browser, site / "whole/reports" / f"{made_up.PAPER}.html", 1280)
    assert shown.inner_text("h1").endswith("?")
    assert "reproduced, " in shown.inner_text(".badge")
    assert ratio in shown.inner_text(".seen figcaption")
    says, here, why = (
        text.inner_text() for text in shown.query_selector_all(".lead .three > p:not(.note)")
    )
    assert says.startswith("The source says")
    assert number_format.with_interval(claim["estimate"], *claim["interval"]) in here
    assert "copies one 4 KiB block 8,192 times" in why.replace(number_format.FIXED, " ")
    shown.goto((site / "whole/reports" / f"{made_up.PAPER}-details.html").as_uri())
    said = shown.inner_text(".said")
    assert "The number repeats here, but it is no rate of copying memory. The source says: " in said
    assert "does not: it holds only because " in said
    body = shown.inner_text("body").replace(number_format.FIXED, " ")
    assert "4 KiB block 8,192 times" in body
    assert "block copy 1.3.0 ÷ whole copy, 8 MiB" in body
    assert "One question remains" in body
    shown.close()


def test_an_odd_pair_is_found_by_rule(site: Path) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    odd = paper["experiments"]["mbw"]["odd"]
    pairs = {
        (
            pair["kind"],
            wording.parts_of(pair["top"])["method"],
            wording.parts_of(pair["top"])["bytes"],
        ): pair
        for pair in odd["pairs"]
    }
    seen = pairs["methods", "block-1.3.0", "8388608"]
    assert seen["published"] == [pytest.approx(4817.246 / 2778.067)]
    assert seen["differs_published"]
    slower = pairs["sizes", "copy", "8388608"]
    assert max(slower["published"]) < 0.53
    assert odd["repeats"]["ratio"] == pytest.approx(7107.952 / 6871.081)


def test_what_was_not_measured_says_why(site: Path, browser: Browser) -> None:
    shown = opened(browser, site / "tiny/reports" / f"{made_up.PAPER}.html", 1280)
    shown.evaluate(OPEN)
    assert "not in preset tiny" in shown.inner_text("body")
    assert "tiny" in shown.inner_text(".facts")
    shown.close()
    for name in ("broken", "empty"):
        shown = opened(browser, site / name / "reports" / f"{made_up.PAPER}.html", 1280)
        shown.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        body = shown.inner_text("body")
        assert "its check failed" in body, name
        assert "<script>alert(1)</script>" in body, name  # as text
        assert "compiler 'x' is not on PATH" in body, name
        assert "NaN" not in body and "None" not in body and " nan" not in body, name
        shown.close()
    assert "too few rounds for an interval" in (
        site / "broken/reports" / f"{made_up.PAPER}.html"
    ).read_text(encoding="utf-8")


def test_sizes_flags_limits_and_trials_are_on_their_page(site: Path, looks: dict) -> None:
    path = site / "stream/reports" / f"{made_up.STREAM}.html"
    assert path.stat().st_size < 2_000_000
    text = looks[path]["unfolded"].replace(number_format.FIXED, " ")
    for sentence in (
        "The rule demands 122 MiB per array",
        "(copy, non-temporal stores)",
        "here 140 MiB",
        "Not in preset quick",
        "variants cannot be distinguished from gcc-O3",
        "compiler 'x' is not on PATH",
        "arrays link at every size tried",
        "signal 11 (SIGSEGV)",
        "In stream all sizes that are compared share a start",
    ):
        assert sentence in text
    assert "share a start" not in looks[site / f"whole/reports/{made_up.PAPER}.html"]["unfolded"]
    ceilings = looks[path.with_name("machine.html")]["text"]
    assert "copy, non-temporal stores" in ceilings[ceilings.index("Attained ceilings") :]


def test_a_section_without_results_is_a_sentence(site: Path, looks: dict) -> None:
    path = site / "stream-bare/reports" / f"{made_up.STREAM}.html"
    text = looks[path]["text"]
    for sentence in (
        "measured too few sizes for a curve",
        "too few builds at one setting",
        "No search for the largest static array",
        "include no trial of arrays beyond memory",
        "preset tiny leaves the sizes out that it compares",
    ):
        assert sentence in text
    assert "None" not in text
    assert "nan" not in text


def test_every_value_that_was_not_counted_says_so(site: Path, looks: dict) -> None:
    """In tables, in sentences and in the picture; what was counted is set as any number."""
    path = site / "stream/reports" / f"{made_up.STREAM}.html"
    html = path.read_text(encoding="utf-8")
    html = html[html.rindex(">What moved<") :]
    estimated = re.findall(r'<em class="estimated">(.*?)</em>', html)
    assert len(estimated) > 10
    assert all(text.endswith(" <small>simulated</small>") for text in estimated)
    table = html[html.index(">Bytes moved against") : html.index("How it was simulated")]
    rows = re.findall(r'<tr><th [^>]*scope="row"[^>]*>(.*?)</tr>', table)
    assert len(rows) > 10
    for row in rows:
        assert ("likwid MEM, counted" in row) == row.startswith("Triad"), row
        assert ("simulated</small>" in row) == ("cachegrind, simulated" in row), row
        assert row.startswith("Triad") or "simulated" in row or "–<sup>" in row, row
    drawing = html[html.index("moved, counted") :]
    assert "moved, simulated" in drawing
    assert "<pattern" in html  # the hatching
    text = looks[path]["text"]
    section = text[text.index("What moved") :]
    assert "Copy moves 1.50" in section
    assert "(counted and simulated)" in section or "(simulated and counted)" in section
    mbw = in_all(looks, site / "whole/reports" / f"{made_up.PAPER}.html")
    assert "Block copy 1.1.1 reads 64 and writes 64 of the 16,384 lines that it claims" in mbw
    assert "touches the lines of block copy 1.2.2 (simulated)" in mbw
    for html_or_text in (text, mbw):
        assert not re.search(
            r"\b(None|nan)\b(?! of these)", html_or_text[html_or_text.index("What moved") :]
        )


def test_what_counts_nothing_has_its_remedy(site: Path, looks: dict) -> None:
    html = html_of(site / "whole/reports" / f"{made_up.PAPER}.html")
    assert "likwid (denied): msr is closed; what helps: <code>modprobe</code>" in html
    for name, paper in (("stream-bare", made_up.STREAM), ("broken", made_up.PAPER)):
        text = looks[site / name / "reports" / f"{paper}.html"]["text"]
        assert "was neither counted nor simulated here" in text
        assert "Bytes moved against" not in text


def test_the_machine_says_what_can_be_measured(site: Path, looks: dict) -> None:
    text = looks[site / "whole/reports/machine.html"]["text"]
    section = text[text.index("What can be measured here") : text.index("What cannot be read")]
    assert "1 of 3 measuring facilities work here" in section
    html = (site / "whole/reports/machine.html").read_text(encoding="utf-8")  # folds as well
    section = unescape(html[html.index('id="abilities"') : html.index("What cannot be read")])
    places = [section.index(capability["name"]) for capability in made_up_evidence.CAPABILITIES]
    assert places[1] < places[0] < places[2]  # what is there first
    for capability in made_up_evidence.CAPABILITIES:
        assert capability["said"] in section
        assert capability["remedy"] in section
    bare = looks[site / "empty/reports/machine.html"]["text"]
    assert "were not recorded with this run" in bare


def test_the_topology_stands_on_the_machines_page_and_below_each_paper(site: Path) -> None:
    whole, empty = site / "whole/reports", site / "empty/reports"
    for name in ("machine", made_up.PAPER):
        html = html_of(whole / f"{name}.html")
        assert html.count("Topology. Socket 0") == 1
        assert re.search(r"2\scores on 1\ssocket", html)
        assert "Topology. Socket" not in (empty / f"{name}.html").read_text(encoding="utf-8")


def test_a_figure_alone_shows_only_itself(site: Path, browser: Browser) -> None:
    folder = site / "figure/reports/figures" / made_up.PAPER
    shown = opened(browser, folder / f"{made_up.PAPER}.html", 360)
    ids = [
        str(part.get_attribute("id"))
        for part in shown.query_selector_all("main .chart-of[id], main section[id]")
    ]
    assert ids[0] == FIGURE
    assert [name for name in ids if name.endswith("-table")] == [f"{FIGURE}-table"]
    assert shown.get_attribute("nav a[href$='index.html']", "href") == "../../index.html"
    shown.close()
    assert {path.name for path in folder.glob("*.*")} >= {f"{FIGURE}.svg", f"{FIGURE}.csv"}


def test_data_beside_each_figure(site: Path) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    folder = site / "whole/reports/figures" / made_up.PAPER
    for figure in paper["figures"]:
        assert (folder / f"{figure['id']}.svg").read_text(encoding="utf-8").startswith("<svg")
        with (folder / f"{figure['id']}.csv").open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert [row["printed_mib_per_s"] for row in rows] == [
            row["printed"] for row in figure["rows"]
        ]
        assert [float(row["rerun_mib_per_s"]) for row in rows] == [
            row["rerun"] for row in figure["rows"]
        ]
        with (folder / f"{figure['id']}-runs.csv").open(newline="", encoding="utf-8") as stream:
            runs = list(csv.DictReader(stream))
        assert len(runs) == sum(len(row["invocations"]) for row in figure["rows"])


def test_every_page_names_door_compilers_and_revision(site: Path, looks: dict) -> None:
    for path in pages(site / "whole"):
        assert "gcc 1.0" in in_all(looks, path), path
        assert re.search(r"Environment:?\s+host[,;]", in_all(looks, path)), path
    for name in (made_up.PAPER, "index", "machine"):
        text = in_all(looks, site / "whole/reports" / f"{name}.html")
        assert "host, nixpkgs at revision 8fd9daa; gcc 1.0; clang 1.0" in text


def test_a_variant_whose_flags_a_wrapper_changed_says_so(site: Path, looks: dict) -> None:
    words = "a wrapper dropped -march=native and added -O2 -fPIC"
    text = in_all(looks, site / "whole/reports" / f"{made_up.PAPER}.html")
    assert text.count(words) == 1
    # Beside the loops too, where flags are compared; the control's clean twin says nothing.
    stream = looks[site / "stream/reports" / f"{made_up.STREAM}.html"]["unfolded"]
    assert stream.count(words) > 2


def test_flags_that_nobody_saw_are_unknown() -> None:
    unknown = {"wrapper": {"state": "unknown", "reason": "it does not tell"}}
    assert (
        wording.wrapper_changes(unknown) == "what reached the compiler is unknown: it does not tell"
    )
    assert wording.wrapper_changes({"wrapper": None}) == wording.wrapper_changes({}) == ""


def test_the_index_is_searched_by_words(site: Path, browser: Browser) -> None:
    shown = opened(browser, site / "whole/reports/index.html")
    lines = shown.query_selector_all("#entries li")
    assert not shown.is_visible("#entries li")  # folded until somebody asks
    shown.fill("#words", "Block ORDER magnitude")
    visible = [line.inner_text() for line in lines if line.is_visible()]
    assert 0 < len(visible) < len(lines)
    assert all("order of magnitude" in text for text in visible)
    assert shown.inner_text("#found") == f"{len(visible)} of {len(lines)} found"
    shown.fill("#words", "no such words")
    assert not [line for line in lines if line.is_visible()]
    shown.fill("#words", "")
    assert shown.inner_text("#found") == ""
    shown.close()
    plain = opened(browser, site / "whole/reports/index.html", java_script_enabled=False)
    assert not plain.is_visible("#search")
    plain.click("#entries summary")
    assert all(line.is_visible() for line in plain.query_selector_all("#entries li"))
    plain.close()


def test_every_claim_figure_and_finding_can_be_searched(site: Path, looks: dict) -> None:
    paper = read_paper(site / "whole" / made_up.PAPER / "paper.json")
    text = (site / "whole/reports/index.html").read_text(encoding="utf-8")
    linked = set(re.findall(rf'href="{made_up.PAPER}\.html#([^"]+)"', text))
    claims = {f"{claim['figure']}-{claim['claim']}" for claim in wording.all_claims(paper)}
    marks = findings_section.marks_of(paper)
    findings = {mark.anchor for mark in (*marks.every, *marks.run)}
    assert linked == claims | {figure["id"] for figure in paper["figures"]} | findings
    assert len(findings) > 2


def test_a_command_is_copied_with_the_keyboard(site: Path, browser: Browser) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    shown = context.new_page()
    shown.goto((site / "whole/reports" / f"{made_up.PAPER}.html").as_uri())
    shown.evaluate(OPEN)
    button = shown.query_selector(f"#{FIGURE.replace('.', chr(92) + '.')} button.copy")
    assert button is not None
    button.focus()
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".told:not(:empty)")
    copied = shown.evaluate("navigator.clipboard.readText()")
    assert copied == f"snakemake --config figure={made_up.PAPER}/{FIGURE}"
    context.close()


def test_print_is_black_on_white_within_the_sheet(site: Path, browser: Browser) -> None:
    sheet = 718  # of A4, between margins of 10 mm, in CSS pixels
    for path in whole(site):
        shown = opened(browser, path, sheet, color_scheme="dark")
        assert shown.evaluate(PAPER) == "rgb(22, 24, 27)"
        shown.emulate_media(media="print")
        shown.evaluate(OPEN)
        assert shown.evaluate(PAPER) == "rgb(255, 255, 255)"
        assert shown.evaluate(WIDTH) <= sheet, path
        assert not [
            element for element in shown.query_selector_all("button, input") if element.is_visible()
        ]
        shown.close()


def test_pictures_turn_dark_with_the_page(site: Path, browser: Browser) -> None:
    fills = "all => [...new Set(all.map(one => getComputedStyle(one).fill))]"
    path = site / "whole/reports" / f"{made_up.PAPER}.html"
    alone = site / "whole/reports/figures" / made_up.PAPER / f"{FIGURE}.svg"
    for file, marks in ((path, "svg .value, svg .published"), (alone, "svg text")):
        shown = opened(browser, file, color_scheme="light")
        light = set(shown.eval_on_selector_all(marks, fills))
        shown.emulate_media(color_scheme="dark")
        dark = set(shown.eval_on_selector_all(marks, fills))
        assert light
        assert not light & dark, file
        shown.close()


def test_every_colour_of_text_is_read_on_paper_and_on_what_is_shaded() -> None:
    pairs = [palette.PAPER, palette.REGION]
    for ink in (palette.INK, palette.GREY, palette.WARNING, *palette.PALETTE):
        for ground in pairs:
            assert contrast(ink, ground) >= 4.5, (ink, ground)
            assert contrast(palette.DRAWN[ink], palette.DRAWN[ground]) >= 4.5, (ink, ground)


# What red and green become where their receptors are missing (Machado 2009, severity 1), of linear
# light; and linear light as OKLab has it (Ottosson 2020), in which equal distances look equal.
EYES = {
    "all": np.eye(3),
    "deuteranopia": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "protanopia": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
}
CONES = np.array([[0.412, 0.536, 0.051], [0.212, 0.681, 0.107], [0.088, 0.282, 0.630]])
OKLAB = np.array([[0.210, 0.794, -0.004], [1.978, -2.429, 0.451], [0.026, 0.783, -0.809]])
APART = 0.06  # of OKLab; before it was 0.02 between orange and olive


def test_six_methods_are_told_apart_without_red_or_green() -> None:
    for colours in (palette.PALETTE[:6], [palette.DRAWN[hue] for hue in palette.PALETTE[:6]]):
        for eye, seen in EYES.items():
            places = [OKLAB @ np.cbrt(CONES @ np.clip(seen @ linear(c), 0, 1)) for c in colours]
            apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)]
            assert min(apart) > APART, (eye, colours)


def linear(colour: str) -> np.ndarray:
    """Red, green and blue of a colour as linear light, 0 to 1."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return np.array([p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts])


def contrast(colour: str, background: str) -> float:
    """The ratio of two colours' luminances as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        return float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour))

    low, high = sorted((luminance(colour), luminance(background)))
    return (high + 0.05) / (low + 0.05)


def test_pages_need_no_statistics() -> None:
    """They compute nothing, and each notebook starts a second sooner."""
    code = (
        "import sys; from benchbook.report import index_page, notebook_export, paper_page; "
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True, cwd=made_up.ROOT)
    assert not {"pandas", "scipy"} & set(loaded.stdout.split())
    assert "matplotlib" in loaded.stdout.split()

"""Text from outside, such as a paper's, a log's or a host's, is read as text and never run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import made_up
import made_up_findings
import pytest
from browser import OPEN, WIDTH
from made_up_findings import finding
from playwright.sync_api import Browser

from benchbook.controls.controls_json import read_controls
from benchbook.core.files import read_json, write_text
from benchbook.judge.paper_json import read_paper
from benchbook.report import index_page, machine_page, notebook_export, paper_page

NOTEBOOK = made_up.ROOT / "notebooks" / f"{made_up.PAPER}.ipynb"
# Ways out of text, attributes, comments, style, script, templates, and a formula of matplotlib.
HOSTILE = (
    "<script>hit=1</script><img src=x onerror=hit=2>\"><svg onload=hit=3>'onmouseover='hit=4"
    "</style></title></textarea>--><!--{{ 7*7 }}{% raw %}<a href=javascript:hit=5>`<b>code`"
    "$\\frac{$ &lt;b&gt; ]]>"
)
# Keys of results whose text comes from a source, a log, a compiler or the host.
OUTSIDE = (
    *("title", "author", "kind", "answer", "text", "published", "reason", "explanation", "remedy"),
    *("cpu_model", "os", "libc", "virtualisation", "compiler_version", "region_reason", "scope"),
    *("requires", "governor", "clocksource", "door", "said", "label", "name", "source", "unit"),
)
KEPT = ("point", "claim", "figure", "quantity")  # of what the program calls things itself


def poisoned(value: Any, key: str = "") -> Any:
    """The same results with hostile text behind everything that comes from outside."""
    if isinstance(value, dict):
        kept = {file: value[file] for file in KEPT if file in value}
        return {name: poisoned(item, name) for name, item in value.items()} | kept
    if isinstance(value, list):
        return [poisoned(item, key) for item in value]
    return value + HOSTILE if isinstance(value, str) and key in OUTSIDE and value else value


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("hostile")
    _, points = made_up.points_of("mbw", "quick")
    findings = [finding("zero-page", "biases", [points[0].id], 1.4)]
    paper = made_up_findings.results(top, "quick", {"mbw": findings})
    content = poisoned(read_paper(paper))
    content["language"] = '"><script>hit=6</script>'
    paper.write_text(json.dumps(content), encoding="utf-8")
    analysis = top / "mbw/analysis.json"
    analysis.write_text(json.dumps(poisoned(read_json(analysis))), encoding="utf-8")
    controls = made_up.controls(top / "controls.json")
    controls.write_text(json.dumps(poisoned(read_controls(controls))), encoding="utf-8")
    folder = top / "reports"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        patch.setenv(paper_page.VARIABLE, str(paper))
        cells = made_up.executed_here(NOTEBOOK)
        write_text(folder / f"{made_up.PAPER}.html", notebook_export.export(cells, ""))
        notebook_export.write_figures(paper_page.PaperPage(content), folder / "figures")
        index_page.make_index([paper], controls, folder / "index.html")
        index_page.make_controls(controls, folder / "controls.html")
        machine_page.make_machine([analysis, paper], folder / "machine.html")
    return folder


def test_what_looks_like_code_is_read_and_not_run(site: Path, browser: Browser) -> None:
    every = sorted(site.glob("*.html"))
    assert len(every) == 4
    for path in every:
        shown = browser.new_page()
        messages: list[str] = []
        requests: list[str] = []
        shown.on("console", lambda message, messages=messages: messages.append(message.text))
        shown.on("dialog", lambda dialog, messages=messages: messages.append(dialog.message))
        shown.on("request", lambda request, requests=requests: requests.append(request.url))
        shown.goto(path.as_uri())
        shown.evaluate(OPEN)
        assert shown.evaluate("typeof hit") == "undefined", path
        assert shown.evaluate("document.scripts.length") == 1, path
        strangers = "img, main style:not(svg *), [onload], [onerror], [onmouseover], [href^=java]"
        assert shown.query_selector_all(strangers) == [], path
        body = shown.inner_text("body")
        assert "<script>hit=1</script><img src=x onerror=hit=2>" in body, path
        assert "{{ 7*7 }}" in body, path
        shown.set_viewport_size({"width": 375, "height": 800})
        assert shown.evaluate(WIDTH) == 375, path
        assert (messages, requests) == ([], [path.as_uri()])
        shown.close()


def test_pictures_stay_pictures(site: Path) -> None:
    files = sorted((site / "figures").glob("*.svg"))
    assert len(files) > 5
    for path in files:
        root = ElementTree.parse(path).getroot()
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert "script" not in tags and "a" not in tags and "img" not in tags, path
        names = {name for element in root.iter() for name in element.attrib}
        assert not any(name.startswith("on") for name in names), path
    drawn = [path for path in files if "<script>hit=1</script>" in _texts(path)]
    assert drawn  # what is drawn of it is text


def _texts(path: Path) -> str:
    return "".join(ElementTree.parse(path).getroot().itertext())

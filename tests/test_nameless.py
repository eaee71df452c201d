"""Names of people and machines that come with facts, messages and logs are in no page."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import made_up
import pytest
import test_pages_hostile
from test_pages_hostile import NOTEBOOK, poisoned

from benchbook.controls.controls_json import read_controls
from benchbook.core.files import read_json, write_text
from benchbook.judge.paper_json import read_paper
from benchbook.report import index_page, machine_page, notebook_export, paper_page
from benchbook.report.anonymise import nameless, nameless_page

USER, NAME = "jdoe", "wintermute-7"
PLANTED = (
    f" in /home/{USER}/lab/a.c, /Users/{USER}/b; {USER}@{NAME}:~$ run; ran on {NAME}.example.org"
    f" (Linux {NAME} 6.1.0); see /root/x and CWD/build/a"
)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename=NAME))


@pytest.mark.usefixtures("called")
def test_no_page_and_no_table_says_who_measured_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made_up.ROOT)
    monkeypatch.setattr(test_pages_hostile, "HOSTILE", PLANTED.replace("CWD", str(Path.cwd())))
    paper = made_up.results(tmp_path, preset="tiny", failing="loop", bare=True, blocks=4)
    controls = made_up.controls(tmp_path / "controls.json")
    analysis = tmp_path / "mbw/analysis.json"
    for path, read in ((paper, read_paper), (controls, read_controls), (analysis, read_json)):
        path.write_text(json.dumps(poisoned(read(path))), encoding="utf-8")
    folder = tmp_path / "reports"
    monkeypatch.setenv(paper_page.VARIABLE, str(paper))
    write_text(folder / "paper.html", notebook_export.export(made_up.executed_here(NOTEBOOK), ""))
    notebook_export.write_figures(paper_page.open_paper(made_up.PAPER), folder / "figures")
    index_page.make_index([paper], controls, folder / "index.html")
    index_page.make_controls(controls, folder / "controls.html")
    machine_page.make_machine([analysis, paper], folder / "machine.html")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {file.suffix for file in files} == {".html", ".svg", ".csv"}
    for path in files:
        text = path.read_text(encoding="utf-8")
        tables = re.findall(r'"data:text/csv;base64,([^"]+)"', text)
        for text_or_table in (text, *(base64.b64decode(encoded).decode() for encoded in tables)):
            for name in (USER, NAME, str(Path.cwd()), "/root/"):
                at = text_or_table.find(name)
                assert at < 0, f"{path.name}: {text_or_table[max(at - 60, 0) : at + 60]!r}"
    assert "~/lab/a.c" in (folder / "machine.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("called")
def test_what_is_no_name_stays() -> None:
    untouched = "Reads 5 @ 3 GHz; mail a@b; /home; /rooted/a; winter; 0.5 /root2"
    assert nameless(untouched) == untouched
    link, rule = f'<a href="/home/{USER}/{NAME}" title="at ', f"</a><style>.{NAME}{{}}</style>"
    link_on_page = f'{link}this-host">this-host{rule}'
    assert nameless_page(f'{link}{NAME}">{NAME}{rule}') == link_on_page


@pytest.mark.parametrize("name", ["vm", "localhost", "machine", "Experiment"])
def test_a_machine_called_like_a_word_of_ours_breaks_no_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename=name))
    assert nameless(f"The {name} said") == f"The {name} said"

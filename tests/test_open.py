"""Open figures: published tables that wait for an experiment, on their page and in the index."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

from benchbook import workflow
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_json
from benchbook.crosscheck import papers as crosscheck
from benchbook.define import catalogue
from benchbook.define.published import beyond, read_table
from benchbook.judge.paper_json import read_paper
from benchbook.judge.stage import judge
from benchbook.report import index_page
from benchbook.report.paper_page import PaperPage

PAPER = "ssscore"
FIGURES = [
    {
        "id": "programs",
        "title": "Programs",
        "table": "nas.csv",
        "x": "program",
        "published": "times of programs",
        "why": "nothing runs programs yet",
    },
    {
        "id": "latency",
        "title": "Latency",
        "table": "fast-latency.csv",
        "x": "data_bytes",
        "published": "times one way",
        "why": "nothing sends messages yet",
    },
]


def checkout(root: Path, **changed: Any) -> Path:
    """A paper of which all that it has is open."""
    folder = root / "data" / "published" / PAPER
    shutil.copytree(ROOT / "data" / "published" / PAPER, folder)
    path = folder / "paper.yaml"
    real = yaml.safe_load(path.read_text(encoding="utf-8"))
    measured = ("figures", "sweeps", "sizing", "shares")
    kept = {key: value for key, value in real.items() if key not in measured}
    del (
        kept["thesis"]["claim"],
        kept["thesis"]["in_its_place"],
        kept["remarks"],
    )  # which are about none of these
    path.write_text(yaml.safe_dump({**kept, "open": FIGURES} | changed), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = checkout(tmp_path_factory.mktemp("open"))
    output = root / "paper.json"
    judge(root, PAPER, "", [], output, {"preset": "tiny", "host": "a-host"})
    return read_paper(output)


def test_a_paper_may_have_nothing_but_open_figures(content: dict[str, Any]) -> None:
    assert content["figures"] == []
    assert (content["preset"], content["host"]) == ("tiny", "a-host")
    first = content["open"][0]
    cells = [list(row.values()) for row in read_table(ROOT, PAPER, "nas.csv")]
    assert first["rows"] == cells
    columns = {column["column"]: column for column in first["columns"]}
    assert columns["mpi_mbcf_s"]["unit"] == "sec"
    assert columns["mpi_mbcf_s"]["number"]
    assert not columns["collective"]["number"]


def test_its_page_has_the_tables_and_no_verdict(content: dict[str, Any]) -> None:
    page = PaperPage(content)
    html = page.open().html
    assert html.count("open</span>") == len(FIGURES)
    for name in ("13.58", "210.5", "なし", "Nothing runs programs yet."):
        assert name in html
    # Each says what the audit found of its table.
    counts = re.findall(r"(\d+) of \d+ checks of its numbers disagree", html)
    odd = [check for check in content["audit"] if not check["consistent"]]
    assert counts == [str(sum(check["table"] == "nas.csv" for check in odd))]
    assert len(re.findall(r"Its numbers pass \d+ checks of the audit", html)) == 1
    for section in (page.first_screen, page.answer, page.overview, page.figures, page.failures):
        assert "Not rerun" in section().html or "verdict" not in section().html
    assert "as we read them: The operating system SSS-CORE returns" in page.answer().html
    assert "never times" in page.first_screen().html
    bare = PaperPage({**content, "caution": ""}).first_screen().html
    assert "never times" not in bare
    assert page.machine().html
    assert page.pictures() == {}


def test_the_index_counts_them_apart(content: dict[str, Any], tmp_path: Path) -> None:
    write_json(tmp_path / "paper.json", content)
    write_json(tmp_path / "controls.json", {"version": 2, "artefacts": {}})
    index_page.make_index(
        [tmp_path / "paper.json"], tmp_path / "controls.json", tmp_path / "i.html"
    )
    html = (tmp_path / "i.html").read_text(encoding="utf-8")
    assert "0 published tables, 0 of 0 values rerun" in html
    assert "2 tables not rerun yet" in html


def test_the_index_grows_and_passes_over_what_an_older_benchbook_left(
    content: dict[str, Any], tmp_path: Path
) -> None:
    write_json(tmp_path / PAPER / "paper.json", content)
    write_json(tmp_path / "older" / "paper.json", {**content, "version": 2})
    write_json(tmp_path / "controls.json", {"version": 1, "artefacts": {}})
    index_page.make_index_so_far([PAPER, "older", "absent"], tmp_path, tmp_path / "i.html")
    html = (tmp_path / "i.html").read_text(encoding="utf-8")
    assert f'href="{PAPER}.html"' in html
    assert "Not rerun here yet: <code>older</code>, <code>absent</code>" in html
    assert "None has been played here yet" in html


def test_a_figure_that_shows_one_column_keeps_its_whole_table() -> None:
    select = [{"row": {"data_bytes": "4"}, "point": {}}]
    figure = {"x": "data_bytes", "y": "sunos_tcp_us", "table": "rpc.csv", "select": select}
    table = beyond(ROOT, PAPER, figure)
    assert table is not None
    assert [column["label"] for column in table["columns"]][-1] == "SunOS TCP"
    assert table["rows"][0] == ["4", "127", "148", "863"]
    # One that shows all that is printed has no more to show.
    each = [
        {**select[0], "y": column} for column in ("mbcf_signal_us", "mbcf_fifo_us", "sunos_tcp_us")
    ]
    assert beyond(ROOT, PAPER, figure | {"select": each}) is None
    assert beyond(ROOT, PAPER, figure | {"select": []}) is None


def test_a_paper_without_any_has_no_such_part(content: dict[str, Any]) -> None:
    assert PaperPage({**content, "open": []}).open().html.strip() == ""


def test_one_figure_alone_has_none_beside_it(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    judge(root, PAPER, f"{PAPER}/none", [], root / "paper.json", {"preset": "tiny", "host": "h"})
    assert read_paper(root / "paper.json")["open"] == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"open": [FIGURES[0], FIGURES[0]]}, "has the id 'programs' twice; rename one"),
        ({"open": [FIGURES[0] | {"table": "gone.csv"}]}, "'gone.csv', which cannot be read"),
        ({"open": [FIGURES[0] | {"x": "name"}]}, "'name', which is no column of nas.csv"),
        ({"open": []}, "has no figure; declare one in `figures` or in `open`"),
        ({"open": [FIGURES[0] | {"claims": []}]}, "'claims'"),
    ],
)
def test_what_is_wrong_with_one_is_one_sentence(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    root = checkout(tmp_path, **changed)
    with pytest.raises(BenchbookError, match=re.escape(message)):
        crosscheck.paper(root, PAPER, {})


def test_an_open_figure_cannot_be_asked_for(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    with pytest.raises(BenchbookError, match="which is open: there is no experiment yet to rerun"):
        workflow._check_figure(root, f"{PAPER}/latency", "--config")


def test_open_figures_of_the_papers_have_tables_of_their_own() -> None:
    for name in catalogue.papers(ROOT):
        paper = catalogue.paper(ROOT, name)
        measured = {figure["table"] for figure in paper["figures"]}
        assert not measured & {figure["table"] for figure in paper.get("open", [])}

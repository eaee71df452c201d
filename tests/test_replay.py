"""Notebooks from top to bottom on what was recorded, and what damaged or missing runs say."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue
from benchbook.judge.replay import replay, runs_of
from benchbook.records import archive
from benchbook.report import paper_page

HOSTS = sorted((ROOT / archive.FOLDER).iterdir())
PAPERS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
UNITS = ("_ns", "_per_s", "bytes")
COUNTS = ("blocks", "samples", "transfer_threads")


def cells_of(paper: str) -> list[dict[str, Any]]:
    text = (ROOT / "notebooks" / f"{paper}.ipynb").read_text(encoding="utf-8")
    return [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def recorded(paper: str) -> Path | None:
    """A host of which every experiment of the paper is recorded."""
    wanted = {figure["experiment"] for figure in catalogue.paper(ROOT, paper)["figures"]}
    return next((host for host in HOSTS if wanted <= set(runs_of(ROOT, host))), None)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_notebook_runs_from_top_to_bottom_on_what_was_recorded(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "notebooks")
    monkeypatch.delenv(paper_page.VARIABLE, raising=False)
    first, *others = cells_of(paper)
    assert first["metadata"]["tags"] == ["parameters"]
    assert all(
        not other["outputs"] and other["execution_count"] is None for other in (first, *others)
    )
    host = recorded(paper)
    names: dict[str, Any] = {}
    exec("".join(first["source"]), names)
    assert names["RECORDED"] == ""
    names["RECORDED"] = str((host or HOSTS[0]).relative_to(ROOT))
    if host is None:  # nothing is shown that nobody recorded
        with pytest.raises(BenchbookError, match="has no run of"):
            exec("".join(others[0]["source"]), names)
        return
    shown = []
    for cell in others:
        *before, last = ast.parse("".join(cell["source"])).body
        if not isinstance(last, ast.Expr):  # a worked cell, which draws
            exec("".join(cell["source"]), names)
            continue
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
        assert isinstance(shown[-1]._repr_html_(), str)
    assert any(host.name in section._repr_html_() for section in shown)
    points, samples = shown[1:3]
    assert len(points)
    assert set(samples["point"]) <= set(points["point"])
    assert (samples["time_ns"] > 0).all()
    numbers = points.select_dtypes("number").columns
    assert set(numbers) >= {"time_ns", "rate_bytes_per_s"}
    assert all(name.endswith(UNITS) or name in COUNTS for name in numbers)
    assert str(ROOT) not in shown[0].html + names["paper"].machine().html


def test_a_run_that_is_damaged_is_not_shown(tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(HOSTS[0], host)
    journal = next(host.glob("*/*/journal.jsonl"))
    journal.write_bytes(journal.read_bytes()[:-9])
    with pytest.raises(BenchbookError, match=r"journal\.jsonl is not what was recorded"):
        replay(ROOT, PAPERS[0], host, tmp_path / "out")
    with pytest.raises(BenchbookError, match="holds no complete run"):
        replay(ROOT, PAPERS[0], tmp_path / "absent", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_replay_is_the_same_twice_and_says_what_the_journal_says(tmp_path: Path) -> None:
    paper = next(paper for paper in PAPERS if recorded(paper))
    host = recorded(paper)
    assert host is not None
    made = [replay(ROOT, paper, host, tmp_path / name) for name in ("a", "b")]
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in made]
    for content in contents:
        for experiment in content["experiments"].values():
            experiment["results"] = ""
    assert contents[0] == contents[1]
    for name, run in runs_of(ROOT, host).items():
        if name not in contents[0]["experiments"]:
            continue
        lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        seen = [json.loads(line) for line in lines]
        starts = [
            record for record in seen if record["kind"] == "invocation" and record["state"] == "ok"
        ]
        points = {start["point"] for start in starts}
        found = [point for point in contents[0]["points"] if point["experiment"] == name]
        assert {entry["point"] for entry in found if entry["state"] == "ok"} <= points
        assert all(entry["blocks"] for entry in found if entry["state"] == "ok")

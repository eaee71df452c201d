"""Notebooks and the small parts of pages, without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import made_up
import nbformat
import pytest

from benchbook.core import number_format
from benchbook.core.errors import BenchbookError
from benchbook.judge import paper_json
from benchbook.report import notebook_export, paper_page
from benchbook.report.plots import style

NOTEBOOK = made_up.ROOT / "notebooks" / f"{made_up.PAPER}.ipynb"


def test_a_failing_notebook_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made_up.ROOT)
    notebook = tmp_path / "broken.ipynb"
    cells = [nbformat.v4.new_code_cell("1 + 1"), nbformat.v4.new_code_cell("raise KeyError('x')")]
    cells += [nbformat.v4.new_code_cell("never = True")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    paper, executed = tmp_path / "paper.json", tmp_path / "kept" / "executed.ipynb"
    content = {"version": paper_json.VERSION, "paper": "none", "figure": ""}
    paper.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BenchbookError) as raised:
        notebook_export.make_page(notebook, paper, executed, tmp_path / "page.html")
    sentence = str(raised.value)
    assert "code cell 2 of 3" in sentence
    assert "KeyError" in sentence
    assert str(executed) in sentence
    assert "\n" not in sentence
    assert not (tmp_path / "page.html").exists()
    kept = nbformat.read(executed, as_version=4)
    assert kept.cells[0].outputs[0]["data"]["text/plain"] == "2"
    assert kept.cells[1].outputs[0]["ename"] == "KeyError"


def test_the_notebook_stores_no_output_and_finds_the_newest_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    assert all(not cell.get("outputs") for cell in stored["cells"])
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "Snakefile").touch()
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.delenv(paper_page.VARIABLE, raising=False)
    with pytest.raises(BenchbookError, match="run `snakemake slocum2013-mbw` there first"):
        paper_page.open_paper(made_up.PAPER)
    made_up.results(tmp_path / "results" / made_up.HOST / "tiny", preset="tiny")
    assert paper_page.open_paper(made_up.PAPER).content["host"] == made_up.HOST


def test_lint_finds_what_a_notebook_stores(tmp_path: Path) -> None:
    def lint(folder: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, made_up.ROOT / "scripts/lint_notebooks.py", folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert lint(made_up.ROOT / "notebooks").returncode == 0
    cell = nbformat.v4.new_code_cell("1 + 1")
    clean = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("1"), cell])
    nbformat.write(clean, tmp_path / "clean.ipynb")
    assert lint(tmp_path).returncode == 0
    cell.outputs = [nbformat.v4.new_output("stream", text="2")]
    nbformat.write(clean, tmp_path / "output.ipynb")
    cell.outputs, cell.execution_count = [], 3
    nbformat.write(clean, tmp_path / "count.ipynb")
    (tmp_path / "torn.ipynb").write_text('{"cells":', encoding="utf-8")
    printed = lint(tmp_path)
    assert printed.returncode == 1
    assert [line.split(": ")[0].rsplit("/", 1)[1] for line in printed.stderr.splitlines()] == [
        "count.ipynb",
        "output.ipynb",
        "torn.ipynb",
    ]


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (9.2371, 8.8, 9.7, "9.2 (8.8 to 9.7)"),
        (29.45, 19.18, 45.91, "29 (19 to 46)"),
        (3844.86, 3588.8, 4173.4, "3,840 (3,590 to 4,170)"),
        (1.7340, 1.7331, 1.7352, "1.7340 (1.7331 to 1.7352)"),
        (5.0, None, None, "5.00 (no finite interval)"),
        (None, None, None, "–"),
        (float("nan"), 1.0, 2.0, "–"),
    ],
)
def test_digits_follow_the_interval(
    value: float | None, low: float | None, high: float | None, text: str
) -> None:
    assert number_format.with_interval(value, low, high) == text


def test_shares_are_never_rounded_to_none_or_all() -> None:
    shares = [number_format.share(share) for share in (0, 1 / 8192, 0.5, 0.99999, 1, 1.5)]
    expected = ["0 %", "0.012 %", "50 %", "99.999 %", "100 %", "150 %"]
    assert [share.replace(number_format.FIXED, " ") for share in shares] == expected


def test_ticks_are_few_and_round() -> None:
    assert style.ticks(900, 120_000, 5) == [1000, 3000, 10_000, 30_000, 100_000]
    assert style.ticks(0.05, 6000, 4) == [1, 1000]  # five decades: more than there is room for
    assert len(style.ticks(0.97, 1.03, 5)) >= 2
    assert all(0.97 <= tick <= 1.03 for tick in style.ticks(0.97, 1.03, 5))


def test_labels_are_spread_in_their_order() -> None:
    placed = style.spread([0.5, 0.51, 0.1], 0.1, 0, 1)
    assert placed[0] < placed[1]
    assert placed[1] - placed[0] == pytest.approx(0.1)
    assert placed[2] == pytest.approx(0.1)

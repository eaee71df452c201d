"""What a notebook works with: one figure, its tables, filters; and a whole notebook, executed."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import made_up
import matplotlib as mpl
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from benchbook.core.errors import BenchbookError
from benchbook.judge.paper_json import read_paper
from benchbook.report import dataframes, paper_page
from benchbook.report.plots import style

RECORDED = "data/recorded/amd-epyc-2c-e39e0a64"
LIMIT_S = 30  # of CPU time, for a whole notebook
FIGURE = "mbw-b4096-32"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> paper_page.PaperPage:
    """A paper's page out of made-up results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        folder: Path = tmp_path_factory.mktemp("mbw")
        return paper_page.PaperPage(read_paper(made_up.results(folder, preset="quick")))


def test_a_figure_holds_its_picture_its_values_and_its_runs(page: paper_page.PaperPage) -> None:
    figure = page.figure(FIGURE)
    table, runs = figure.table, figure.runs
    assert isinstance(table, pd.DataFrame)
    assert list(table["method"]) == ["MEMCPY", "DUMB", "MCBLOCK"]
    assert {"printed_mib_per_s", "rerun_mib_per_s", "rerun_low95_mib_per_s"} <= set(table.columns)
    assert table.attrs["unit"] == runs.attrs["unit"] == figure.unit == "MiB/s"
    assert set(runs["method"]) == set(table["method"])
    rows = next(f for f in page.content["figures"] if f["id"] == FIGURE)["rows"]
    assert len(runs) == sum(len(row["invocations"]) for row in rows)
    shown = figure._repr_html_()
    assert "<svg" in shown
    assert figure.title in shown
    with pytest.raises(BenchbookError, match="there is no figure 'x'; figures are mbw-32, "):
        page.figure("x")


def test_every_kind_of_figure_has_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made_up.ROOT)
    made = made_up.results(tmp_path, preset="tiny", paper=made_up.STREAM)
    stream = paper_page.PaperPage(read_paper(made))
    for content in stream.content["figures"]:
        figure = stream.figure(content["id"])
        assert len(figure.table) == len(
            content["rows"] or content["ranges"] or content["recomputed"]
        )
        assert figure._repr_html_()


def test_points_are_filtered_by_figure_and_by_column(page: paper_page.PaperPage) -> None:
    behind = page.points(figure=FIGURE)
    assert set(behind["point"]) == set(page.figure(FIGURE).points)
    copies = page.points(method=["copy", "loop"], bytes="32 MiB")
    assert set(copies["method"]) == {"copy", "loop"}
    assert set(copies["bytes"]) == {32 * 2**20}
    with pytest.raises(BenchbookError, match="there is no column 'size'; columns are experiment, "):
        page.points(size=4)


def test_clean_samples_are_those_that_count() -> None:
    kept = {"state": "ok", "warm_up": False, "disturbed": False, "twin": "", "point": "p"}
    left_out = [{"state": "abandoned"}, {"warm_up": True}, {"disturbed": True}, {"twin": "again"}]
    simulated = kept | {"state": "simulated"}
    table = pd.DataFrame([kept, simulated, *(kept | change for change in left_out)])
    assert list(dataframes.clean(table)["state"]) == ["ok", "simulated"]


def test_drawing_leaves_a_notebook_its_own_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a section was shown, plots of the reader's own cells were drawn nowhere."""
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    with style.drawing(1.0):
        pass
    assert mpl.rcParams["backend"] == "agg"


def test_a_notebook_runs_within_its_limit_and_shows_its_worked_cells(tmp_path: Path) -> None:
    notebook = nbformat.read(made_up.ROOT / "notebooks" / f"{made_up.PAPER}.ipynb", as_version=4)
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = f"RECORDED = {RECORDED!r}"
    ipc = {"transport": "ipc", "connection_file": f"{tmp_path}/kernel.json"}
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(made_up.ROOT / "notebooks")}},
        config=Config(KernelManager=ipc),
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    env = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    client.execute(env=env | {"IPYTHONDIR": str(tmp_path)})
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < LIMIT_S
    worked = [cell for cell in notebook.cells if cell.get("id", "").startswith("worked")]
    assert len(worked) == 2
    for cell in worked:
        assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.id

"""Executed notebooks and analysis output -> self-contained pages; nothing is computed here."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from benchbook.errors import BenchbookError
from benchbook.files import read_json, write_text
from benchbook.pages.render import TEMPLATES, without_addresses

CELL_LIMIT_S = 300
KERNEL = "python3"
_HEADLINE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def make_page(notebook: Path, paper: Path, executed: Path, output: Path) -> None:
    """Execute a paper's notebook on these results and export it; write its pictures and tables.

    The executed notebook is kept at `executed`, also when a cell fails.
    """
    content = read_json(paper)
    cells = execute(notebook, paper, executed)
    up = "../../" if content["figure"] else ""
    write_text(output, export(cells, up))
    folder = output.parent
    write_figures(content, folder if content["figure"] else folder / "figures" / content["paper"])


def execute(notebook: Path, paper: Path, executed: Path) -> Any:
    """Run every cell in a fresh kernel; BenchbookError names the cell that failed."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    from benchbook.pages.page import VARIABLE

    if not notebook.exists():
        raise BenchbookError(f"{notebook} is missing; each paper has a notebook of its name")
    cells = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as scratch:
        # A backend of the caller's would leave the notebook without pictures, and without an error.
        env = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
        env |= {VARIABLE: str(paper.absolute()), "IPYTHONDIR": scratch}
        client = NotebookClient(
            cells,
            timeout=CELL_LIMIT_S,
            kernel_name=KERNEL,
            resources={"metadata": {"path": str(Path.cwd())}},
            # A socket in the scratch folder: no port is opened, and HOME may be read-only.
            config=Config(
                KernelManager={"transport": "ipc", "connection_file": f"{scratch}/kernel.json"}
            ),
        )
        try:
            client.execute(env=env)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            where = _failed_cell(cells)
            why = _last_line(error)
            raise BenchbookError(
                f"{notebook}: {where} failed ({why}); see it in {executed}"
            ) from None
        finally:
            write_text(executed, nbformat.writes(cells))
    return cells


def _failed_cell(cells: Any) -> str:
    numbered = [cell for cell in cells.cells if cell.cell_type == "code"]
    for number, cell in enumerate(numbered, 1):
        errors = [one for one in cell.get("outputs", []) if one.output_type == "error"]
        if errors or cell.get("execution_count") is None:
            first = (cell.source.strip().splitlines() or [""])[0]
            return f"code cell {number} of {len(numbered)} ({first!r})"
    return "the kernel"


def _last_line(error: Exception) -> str:
    """The error's own words, without the traceback and its colours."""
    if hasattr(error, "ename"):
        return f"{error.ename}: {error.evalue}".replace("\n", " ")
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__


def export(cells: Any, up: str) -> str:
    """The page of an executed notebook; its title is the first heading."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name="notebook",
        extra_template_basedirs=[str(TEMPLATES)],
        mathjax_url="",
        require_js_url="",
    )
    shown = [one["data"].get("text/html", "") for one in _outputs(cells) if "data" in one]
    found = next(filter(None, map(_HEADLINE.search, shown)), None)
    about = {
        "title": re.sub(r"<[^>]+>", "", found[1]).strip() if found else "Benchbook",
        "style": style(),
        "up": up,
    }
    html, _ = exporter.from_notebook_node(cells, resources={"benchbook": about})
    return without_addresses(html)


def _outputs(cells: Any) -> list[Any]:
    return [one for cell in cells.cells for one in cell.get("outputs", [])]


def style() -> str:
    """The style sheet of all pages."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def write_figures(content: dict[str, Any], folder: Path) -> None:
    """<figure>.svg and <figure>.csv of every figure, and the page's other pictures as SVG."""
    from benchbook.pages import explained
    from benchbook.pages.page import PaperPage, figure_csv, sweep_csv

    drawn = PaperPage(content).pictures()
    if not content["figure"]:  # what another preset drew and this one does not
        for old in set(folder.glob("*.svg")) - {folder / f"{name}.svg" for name in drawn}:
            old.unlink()
    for name, picture in drawn.items():
        write_text(folder / f"{name}.svg", picture.svg)
    for one in content["sweeps"]:
        write_text(folder / f"{one['id']}.csv", sweep_csv(one))
    for figure in content["figures"]:
        write_text(folder / f"{figure['id']}.csv", figure_csv(figure))
        for one in figure["explained"]:
            name = explained.name_of(figure["id"], one)
            write_text(folder / f"{name}.csv", explained.csv_of(one))

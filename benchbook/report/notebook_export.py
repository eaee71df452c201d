"""Executed notebooks and analysis output -> self-contained pages; nothing is computed here."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_text
from benchbook.judge.paper_json import read_paper
from benchbook.report import VARIABLE
from benchbook.report.anonymise import nameless, nameless_page
from benchbook.report.render import TEMPLATES, frame, without_addresses
from benchbook.report.table_of_contents import with_contents

if TYPE_CHECKING:  # drawing is the kernel's
    from benchbook.report.paper_page import PaperPage

CELL_LIMIT_S = 300
KERNEL = "python3"
# Loaded while the kernel runs: a page took 5.6 s with them behind it, and takes 5.2 s.
LOADED_MEANWHILE = ("nbconvert", "benchbook.report.index_page")
THEN = "then"  # tag of the cell behind a notebook's own
DETAILS = "details"  # tag of the cells that stand on a paper's second page
_TO_PAGES = re.compile(r'<a [^>]*?href="(?!data:|#)[^"]*\.html[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
_HEADLINE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_ID = re.compile(r'(?<![\w-])id="([^"]+)"')
NEIGHBOURS = "<!-- neighbours -->"  # where a page leads to the paper before and after it
_TO_PART = re.compile(r'(?<![\w:])href="#([^"]+)"')
# To what lies next to the reports in a checkout.
_TO_FILE = re.compile(
    r'<a [^>]*?href="(\.\./[^"#]+\.(?:md|ipynb|parquet))"[^>]*>(.*?)</a>', re.DOTALL
)


def make_page(
    notebook: Path,
    paper: Path,
    executed: Path,
    output: Path,
    *,
    alone: bool = False,
    papers: Callable[[], Sequence[str]] | None = None,
) -> None:
    """Execute a paper's notebook on these results and export it; write its pictures and tables.

    What the notebook tags as details goes to `<paper>-details.html` next to `output`, but on the
    page of one figure and on a page that is to be sent `alone`: these are one file. The executed
    notebook is kept at `executed`, also when a cell fails. A page that is to be sent `alone` leads
    to no index and has no files next to it. `papers` gives the names of all papers in their order.
    """
    content = read_paper(paper)
    folder = output.parent
    if not content["figure"]:
        folder = folder / "figures" / content["paper"]
    cells = execute(notebook, paper, executed, "" if alone else _writing(content, folder))
    if alone or content["figure"]:
        pages = {output: export(cells, None if alone else "../../")}
    else:
        details = output.with_name(details_name(output.name))
        pages = dict(zip((output, details), export_pair(cells, output.name), strict=True))
    for path, html in pages.items():
        around = _neighbours(content["paper"], papers() if papers else [])
        write_text(path, _without_missing(html.replace(NEIGHBOURS, around, 1), path.parent))


def _neighbours(paper: str, names: Sequence[str]) -> str:
    """Links to the papers before and after this one; empty where it is not among them."""
    if paper not in names:
        return ""
    place = list(names).index(paper)
    words = [(place - 1, "before"), (place + 1, "after")]
    return "".join(
        f' · paper {word}: <a href="{names[k]}.html">{names[k]}</a>'
        for k, word in words
        if 0 <= k < len(names)
    )


def details_name(page: str) -> str:
    """`mbw-details.html` of `mbw.html`."""
    return f"{page.removesuffix('.html')}-details.html"


def execute(notebook: Path, paper: Path, executed: Path, then: str = "") -> Any:
    """Run every cell in a fresh kernel; BenchbookError names the cell that failed.

    `then` is code that the kernel runs behind them, and that is on no page.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    if not notebook.exists():
        raise BenchbookError(f"{notebook} is missing; each paper has a notebook of its name")
    cells = nbformat.read(notebook, as_version=4)
    # Cells for who has the notebook open are not shown, and tables of all samples take a while.
    cells.cells = [
        cell for cell in cells.cells if not (cell.cell_type == "code" and _for_lab(cell))
    ]
    if then:
        cells.cells.append(nbformat.v4.new_code_cell(then, metadata={"tags": [THEN]}))
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
        Thread(target=lambda: [import_module(name) for name in LOADED_MEANWHILE]).start()
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
    cells.cells = [cell for cell in cells.cells if THEN not in _tags(cell)]
    return cells


def _writing(content: dict[str, Any], folder: Path) -> str:
    """Code that writes the pictures which the kernel has drawn; it opens the results once."""
    return (
        "from pathlib import Path\n"
        "from benchbook.report import notebook_export, paper_page\n"
        f"paper = paper_page.open_paper({content['paper']!r})\n"
        f"notebook_export.write_figures(paper, Path({str(folder)!r}))"
    )


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _for_lab(cell: Any) -> bool:
    return "lab" in _tags(cell)


def _failed_cell(cells: Any) -> str:
    numbered = [
        cell for cell in cells.cells if cell.cell_type == "code" and THEN not in _tags(cell)
    ]
    for number, cell in enumerate(numbered, 1):
        errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
        if errors or cell.get("execution_count") is None:
            first = (cell.source.strip().splitlines() or [""])[0]
            return f"code cell {number} of {len(numbered)} ({first!r})"
    return "the kernel"


def _last_line(error: Exception) -> str:
    """The error's own words, without the traceback and its colours."""
    from nbclient.exceptions import CellExecutionError

    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}".replace("\n", " ")
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__


def export_pair(cells: Any, page: str) -> tuple[str, str]:
    """The page called `page` and the page of its details; a link to a part of the other leads
    there."""
    details = details_name(page)
    front, back = (export(cells, "", only=page, details=behind) for behind in (False, True))
    return _joined(front, back, details), _joined(back, front, page)


def _joined(html: str, other_page: str, file: str) -> str:
    """The page with its links to parts that only the other page has leading to that `file`."""
    there = set(_ID.findall(other_page)) - set(_ID.findall(html))
    return _TO_PART.sub(
        lambda link: f'href="{file}#{link[1]}"' if link[1] in there else link[0], html
    )


def _without_missing(html: str, folder: Path) -> str:
    """The page without links to files of a checkout that are not there, seen from its folder."""
    return _TO_FILE.sub(lambda link: link[0] if (folder / link[1]).exists() else link[2], html)


def export(cells: Any, up: str | None, *, only: str = "", details: bool = False) -> str:
    """The page of an executed notebook; its title is the first heading, and `up` the way to the
    index, where there is one.

    `only`: of the two pages the first, or that of its `details`; it is the first page's file.
    """
    from nbconvert import HTMLExporter, TemplateExporter
    from nbformat.v4 import new_notebook

    exporter = HTMLExporter(
        template_name="notebook",
        extra_template_basedirs=[str(TEMPLATES)],
        mathjax_url="",
        require_js_url="",
    )
    outputs = [
        output["data"].get("text/html", "") for output in _outputs(cells) if "data" in output
    ]
    heading = next(filter(None, map(_HEADLINE.search, outputs)), None)
    title = re.sub(r"<[^>]+>", "", heading[1]).strip() if heading else "Benchbook"
    about = {
        "title": f"Details: {title}" if details else title,
        "heading": heading[1] if heading and details else "",
        "frame": frame(),
        "up": up,
        "page": only,
        "details": details_name(only) if only and not details else "",
    }
    shown = [cell for cell in cells.cells if not only or (DETAILS in _tags(cell)) == details]
    # Not HTMLExporter's own: that reads the page again, only to add what this template has.
    html, _ = TemplateExporter.from_notebook_node(
        exporter, new_notebook(cells=shown, metadata=cells.metadata), {"benchbook": about}
    )
    html = without_addresses(with_contents(html))
    return html if up is not None else _TO_FILE.sub(r"\2", _TO_PAGES.sub(r"\1", html))


def _outputs(cells: Any) -> list[Any]:
    return [output for cell in cells.cells for output in cell.get("outputs", [])]


def write_figures(paper: PaperPage, folder: Path) -> None:
    """<figure>.svg and <figure>.csv of every figure, and the page's other pictures as SVG."""
    from benchbook.report.figure_tables import figure_csv, runs_csv, sweep_csv
    from benchbook.report.sections import anomalies

    content, drawn = paper.content, paper.pictures()
    if not content["figure"]:  # what another preset drew and this one does not
        for old in set(folder.glob("*.svg")) - {folder / f"{name}.svg" for name in drawn}:
            old.unlink()
    for name, picture in drawn.items():
        write_text(folder / f"{name}.svg", nameless_page(picture.svg))
    for sweep in content["sweeps"]:
        write_text(folder / f"{sweep['id']}.csv", nameless(sweep_csv(sweep)))
    for figure in content["figures"]:
        write_text(folder / f"{figure['id']}.csv", nameless(figure_csv(figure)))
        if figure["rows"]:
            write_text(folder / f"{figure['id']}-runs.csv", nameless(runs_csv(figure)))
        for anomaly in figure["explained"]:
            name = anomalies.file_name(figure["id"], anomaly)
            write_text(folder / f"{name}.csv", nameless(anomalies.csv_of(anomaly)))

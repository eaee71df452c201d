"""Begin an experiment or a paper of your own."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from pathlib import Path
from typing import Annotated, Any

import jinja2
import typer
import yaml

from benchbook.commands.options import ROOT
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_text
from benchbook.core.units import RATE, TIME, in_names
from benchbook.define import catalogue
from benchbook.define.published import CELLS, checksum

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40
UNIT = {RATE: "MiB/s", TIME: "µs"}
# Sections of a new paper's notebook, each a function of PaperPage.
SECTIONS = ("claims", "figures", "why", "findings", "method")
DETAILS = ("answer", "overview", "tables", "audit", "failures", "conditions", "machine")


command = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@command.command("experiment")
def begin_experiment(name: str) -> None:
    """Create kernels/NAME, an example that runs at once; then change it."""
    for path in new_experiment(ROOT, name):
        print(path)


@command.command("paper")
def begin_paper(
    name: str,
    experiment: Annotated[str, typer.Option(help="whose points rerun its table")] = "mbw",
) -> None:
    """Create data/published/NAME and its notebook, which run at once; then fill them in."""
    for path in new_paper(ROOT, name, experiment):
        print(path)


def new_experiment(root: Path, name: str) -> list[Path]:
    """The folder of an experiment that copies memory: the place to begin from."""
    _refuse(root, name)
    folder = root / "kernels" / name
    return _written(
        {
            folder / "experiment.yaml": _render("experiment/experiment.yaml.j2", name=name),
            folder / f"{name}.c": _render("experiment/kernel.c.j2", name=name),
        }
    )


def new_paper(root: Path, name: str, experiment: str) -> list[Path]:
    """The folder of a paper and its notebook; its two rows are rerun by two tiny points."""
    _refuse(root, name)
    experiments = catalogue.experiments(root)
    if experiment not in experiments:
        raise BenchbookError(
            f"{experiment!r} is no experiment; there are {number_format.listed(experiments)}"
        )
    content = catalogue.definition(root, experiment)
    first, second = _two_points(content, experiment)
    quantity = RATE if content["buffers"] else TIME
    unit = UNIT[quantity]
    column = f"result_{in_names(unit)}"
    context = {"name": name, "experiment": experiment, "quantity": quantity}
    context |= {"column": column, "unit": unit, "first": first, "second": second}
    folder = root / "data/published" / name
    table = _render("paper/table.csv.j2", **context)
    cells = checksum(csv.DictReader(io.StringIO(table)))
    return _written(
        {
            folder / "table.csv": table,
            folder / CELLS: json.dumps({"version": 1, "tables": {"table.csv": cells}}) + "\n",
            folder / "paper.yaml": _render("paper/paper.yaml.j2", **context),
            folder / "audit.yaml": _render("paper/audit.yaml.j2", **context),
            root / "notebooks" / f"{name}.ipynb": _notebook(name),
        }
    )


def _refuse(root: Path, name: str) -> None:
    """A name that is none, or that something else has: both kinds are folders of results and
    rules of the workflow."""
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise BenchbookError(
            f"{name!r} is no name; give lower-case letters, digits and single hyphens, a letter "
            f"first, {LONGEST} at most"
        )
    taken = [
        place
        for place in ("kernels/{}", "data/published/{}", "notebooks/{}.ipynb")
        if (root / place.format(name)).exists()
    ]
    if taken:
        raise BenchbookError(f"{taken[0].format(name)} exists already; choose another name")
    files = [root / "Snakefile", *(root / "workflows").glob("*.smk")]
    rules = re.findall(
        r"(?m)^(?:use )?rule (\w+)(?: as (\w+))?",
        "\n".join(file.read_text(encoding="utf-8") for file in files if file.exists()),
    )
    if name in {word for pair in rules for word in pair} or name == "index":
        raise BenchbookError(f"{name!r} is a rule of the workflow; choose another name")


def _two_points(content: dict[str, Any], experiment: str) -> list[str]:
    """The first two points of preset tiny, as settings of paper.yaml."""
    settings: list[dict[str, Any]] = []
    for cross in catalogue.crosses(content, "tiny"):
        values = [value if isinstance(value, list) else [value] for value in cross.values()]
        settings += [dict(zip(cross, chosen, strict=True)) for chosen in itertools.product(*values)]
    if len(settings) < 2:
        raise BenchbookError(
            f"{experiment} has fewer than two points in its preset tiny, so nothing can be "
            "compared; add one to its experiment.yaml"
        )
    return [
        yaml.safe_dump(setting, default_flow_style=True, width=10**6).strip()
        for setting in settings[:2]
    ]


def _render(template: str, **context: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return environment.get_template(template).render(**context)


def _notebook(name: str) -> str:
    """The notebook that opens the paper and shows SECTIONS, and on a second page DETAILS; without
    outputs."""
    head = (
        f"# The lab notebook of {name}\n\nRun all cells: they show the newest results of this "
        f"checkout (`snakemake {name}` makes them). `paper.content` holds every number."
    )
    chosen = '# "" or a recorded host or run: "data/recorded/<host>".\nRECORDED = ""'
    opened = "from benchbook.report import paper_page\n\n"
    opened += f'paper = paper_page.open_paper("{name}", RECORDED)\npaper.first_screen()'
    calls: dict[str, list[str]] = {f"paper.{section}()": [] for section in SECTIONS}
    calls |= {f"paper.{section}()": ["details"] for section in DETAILS}
    tables = {"paper.points()": ["lab"], "paper.samples()": ["lab"]}
    tagged = {chosen: ["parameters"], opened: [], **tables, **calls}
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {"tags": ["lab"]}}]
    cells += [
        {"cell_type": "code", "execution_count": None, "metadata": {"tags": tags}, "outputs": []}
        for tags in tagged.values()
    ]
    for number, (cell, source) in enumerate(zip(cells, [head, *tagged], strict=True)):
        cell |= {"id": f"cell-{number:02}", "source": source.splitlines(keepends=True)}
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _written(files: dict[Path, str]) -> list[Path]:
    for path, text in files.items():
        write_text(path, text)
    return list(files)

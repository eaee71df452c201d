"""The evidence stage: observations other than the timing, each with its source and its state.

Rows of {experiment, point, name, value, unit, source, state, reason}; state is ok, denied, absent,
simulated or replayed, and a value that is not there is None, never 0. A source is a module of
`COLLECTORS` with `rows(context)`, found by wildcard; each adds its rows, by order of their names.
Beside them stands what this machine lets us observe at all (`capabilities`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchbook.core import plugins
from benchbook.core.files import read_json, write_json
from benchbook.define import catalogue
from benchbook.host import capabilities
from benchbook.records import journal
from benchbook.records.pointer import run_folder

VERSION = 1
COLLECTORS = "benchbook.evidence.collectors"
Row = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """One complete run, and what it was made of; what every source may read."""

    pointer: dict[str, Any]  # current.json
    run: Path
    plan: dict[str, Any]  # plan.json
    definition: dict[str, Any]  # of the experiment or control
    variants: dict[str, tuple[Path, dict[str, Any]]]  # name -> its folder, variant.json
    limits: list[Path]  # limits.json of the experiment, if any
    folder: Path | None = None  # where evidence.json goes, for what a source keeps beside it

    @property
    def experiment(self) -> str:
        """The experiment's name, or `controls/<artefact>`."""
        return str(self.pointer["experiment"])

    def ours(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The variants that were compiled here: no peer, not the probe, none that failed."""
        return {
            name: (folder, record)
            for name, (folder, record) in self.variants.items()
            if record["state"] == "ok"
            and record["experiment"] != catalogue.PROBE
            and "peer" not in record
        }


def evidence_row(
    experiment: str,
    name: str,
    value: Any,
    source: str,
    *,
    unit: str = "",
    point: str = "",
    variant: str = "",
    why_absent: str = "",
    **more: Any,
) -> Row:
    """A row of evidence about a point, a variant or the whole run.

    One whose value is None is absent, for the reason `why_absent`; `more` may say otherwise.
    """
    of_variant = {"variant": variant} if variant else {}
    return {
        "experiment": experiment,
        "point": point,
        **of_variant,
        "name": name,
        "value": value,
        "unit": unit,
        "source": source,
        "state": "absent" if value is None else "ok",
        "reason": why_absent if value is None else "",
        **more,
    }


def sources() -> Iterator[ModuleType]:
    """All source modules, by name."""
    yield from plugins.load_all(COLLECTORS)


def collect(pointer: Path, limits: list[Path], output: Path) -> None:
    """Write evidence.json of one run; `limits` are the limits.json of its experiment, if any."""
    content, run = run_folder(pointer)
    folders = {name: Path(folder) for name, folder in content["variants"].items()}
    context = Context(
        pointer=content,
        run=run,
        plan=read_json(run / journal.PLAN),
        definition=catalogue.definition(Path(), content["experiment"]),
        variants={
            name: (folder, read_json(folder / "variant.json")) for name, folder in folders.items()
        },
        limits=limits,
        folder=output.parent,
    )
    items = [row for source in sources() for row in source.rows(context)]
    able = capabilities.table()
    write_json(output, {"version": VERSION, "items": items, "capabilities": able})

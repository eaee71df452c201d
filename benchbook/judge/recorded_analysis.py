"""A recorded run through analysis again, on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.files import read_json, write_json
from benchbook.define import catalogue
from benchbook.records import archive, journal

VERSION = 1


POINTER, SAMPLES = "current.json", "samples.parquet"


def analysed(run: Path, folder: Path) -> Path:
    """analysis.json of one recorded run, with samples and evidence in the same folder."""
    make_table(run, folder)
    return estimated(run, folder)


def make_table(run: Path, folder: Path) -> None:
    """Write the pointer to a recorded run, its variants' variant.json and its table of samples."""
    from benchbook.analyse.tables import write_samples

    plan = read_json(run / journal.PLAN)
    variants = _variants(run, folder)
    for place, about in variants.values():
        write_json(place / "variant.json", about)
    content = {key: plan[key] for key in ("experiment", "host")}
    content["preset"] = plan["settings"]["preset"]
    content |= {"version": VERSION, "run": run.name, "folder": str(run)}
    content["variants"] = {name: str(place) for name, (place, _) in variants.items()}
    write_json(folder / POINTER, content)
    write_samples(folder / POINTER, folder / SAMPLES)


def estimated(run: Path, folder: Path) -> Path:
    """analysis.json and evidence.json of a recorded run whose table is in `folder`."""
    from benchbook.analyse.stage import analyse
    from benchbook.evidence.collectors import invocations
    from benchbook.evidence.stage import Context

    content, plan = read_json(folder / POINTER), read_json(run / journal.PLAN)
    definition = catalogue.definition(Path(), plan["experiment"])
    context = Context(content, run, plan, definition, _variants(run, folder), [], folder)
    evidence = folder / "evidence.json"
    items = list(invocations.rows(context))
    write_json(evidence, {"version": VERSION, "items": items, "capabilities": []})
    analyse(folder / POINTER, folder / SAMPLES, evidence, folder / "analysis.json")
    return folder / "analysis.json"


def _variants(run: Path, folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Each variant recorded with a run: the folder of its variant.json, and its content."""
    variants: dict[str, tuple[Path, dict[str, Any]]] = {}
    for name, built in archive.variants(run).items():
        about = {key: value for key, value in built.items() if value is not None}
        about |= {"version": VERSION, "binary": {"sha256": built.get("sha256")}}
        about |= {"experiment": read_json(run / journal.PLAN)["experiment"], "timed_functions": {}}
        variants[name] = (folder / "variants" / name, about)
    return variants

"""A recorded run through analysis again, on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.files import read_json, write_json
from benchbook.define import catalogue
from benchbook.records import archive, journal

VERSION = 1


SAMPLES = "samples.parquet"


def analysed(run: Path, folder: Path) -> Path:
    """analysis.json of one recorded run, with samples and evidence in the same folder."""
    from benchbook.analyse.stage import analyse
    from benchbook.analyse.tables import write_samples
    from benchbook.evidence.collectors import invocations
    from benchbook.evidence.stage import Context

    plan = read_json(run / journal.PLAN)
    variants: dict[str, tuple[Path, dict[str, Any]]] = {}
    for built in read_json(run / archive.VARIANTS)["items"]:
        place = folder / "variants" / built["variant"]
        about = {key: value for key, value in built.items() if value is not None}
        about |= {"version": VERSION, "binary": {"sha256": built.get("sha256")}}
        about |= {"experiment": plan["experiment"], "timed_functions": {}}
        write_json(place / "variant.json", about)
        variants[built["variant"]] = (place, about)
    content = {key: plan[key] for key in ("experiment", "host")}
    content["preset"] = plan["settings"]["preset"]
    content |= {"version": VERSION, "run": run.name, "folder": str(run)}
    content["variants"] = {name: str(place) for name, (place, _) in variants.items()}
    pointer, evidence = folder / "current.json", folder / "evidence.json"
    write_json(pointer, content)
    write_samples(pointer, folder / SAMPLES)
    definition = catalogue.definition(Path(), plan["experiment"])
    seen = list(invocations.rows(Context(content, run, plan, definition, variants, [], folder)))
    write_json(evidence, {"version": VERSION, "items": seen, "capabilities": []})
    analyse(pointer, folder / SAMPLES, evidence, folder / "analysis.json")
    return folder / "analysis.json"

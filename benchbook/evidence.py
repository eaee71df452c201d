"""The evidence stage: observations other than the timing, each with its source and its state.

Rows of {experiment, point, name, value, unit, source, state, reason}; state is ok, denied, absent
or simulated. Here: what the kernel's check found at the destination, what the operating system
accounted, what the disassembly of the timed functions shows, the sizes at which static arrays no
longer link, and what happened to arrays beyond memory. Later sources add rows.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchbook import definitions, records, trials
from benchbook.files import read_json, write_json
from benchbook.tables import run_folder

VERSION = 1
UNITS = {
    "minor_faults": "faults",
    "major_faults": "faults",
    "voluntary_switches": "switches",
    "involuntary_switches": "switches",
    "migrations": "migrations",
    "run_delay_ns": "ns",
    "on_cpu_ns": "ns",
    "wall_ns": "ns",
    "resident_bytes": "bytes",
    "work_done_fraction": "1",
    "destination_written_fraction": "1",
    "distinct_source_blocks": "blocks",
    "last_source_block": "block",
    "blocks_declared": "blocks",
    "processes": "processes",
    "start_skew_ns": "ns",
    "overlap_fraction": "1",
}
OF_HARNESS = ("processes", "start_skew_ns", "overlap_fraction")  # what it saw of its processes


def collect(pointer: Path, limits: list[Path], output: Path) -> None:
    """Write evidence.json of one run; `limits` are the limits.json of its experiment, if any."""
    content, run = run_folder(pointer)
    seen: dict[tuple[str, str, str], list[Any]] = {}
    complete = set(records.progress(run).complete)
    for record in records.read_lines(run / records.JOURNAL):
        if record["kind"] != "invocation" or record["state"] != "ok":
            continue
        if record["block"] not in complete:
            continue
        for source, values in (
            ("destination check", record["observations"]),
            ("operating system", record["usage"]),
        ):
            for name, value in values.items():
                said = "harness" if name in OF_HARNESS else source
                seen.setdefault((record["point"], said, name), []).append(value)
    items = [
        {"experiment": content["experiment"], "point": point, "name": name, **row(source, values)}
        | {"unit": UNITS.get(name, "")}
        for (point, source, name), values in sorted(seen.items())
    ]
    for folder in content["variants"].values():
        items += _disassembly(content["experiment"], read_json(Path(folder) / "variant.json"))
    for path in limits:
        items += _limits(read_json(path))
    definition = definitions.definition(Path(), content["experiment"])
    items += trials.try_all(definition, content, read_json(run / records.PLAN))
    write_json(output, {"version": VERSION, "items": items})


def row(source: str, values: list[Any]) -> dict[str, Any]:
    """The median over invocations; `absent` where the system never gave a value, never 0."""
    known = [value for value in values if value is not None]
    if not known:
        reason = "this system does not account it"
        return {"value": None, "source": source, "state": "absent", "reason": reason}
    same = len(set(known)) == 1
    reason = "the same in every invocation"
    if not same:
        reason = f"median over invocations, from {min(known)} to {max(known)}"
    value = known[0] if same else median(known)
    return {"value": value, "source": source, "state": "ok", "reason": reason}


def _disassembly(experiment: str, variant: dict[str, Any]) -> list[dict[str, Any]]:
    if variant["state"] != "ok" or variant["experiment"] == "probe" or "peer" in variant:
        return []
    common = {
        "experiment": experiment,
        "point": "",
        "variant": variant["variant"],
        "unit": "",
        "source": "disassembly",
        "state": "ok" if variant["timed_functions"] else "absent",
        "reason": "" if variant["timed_functions"] else "objdump is not on PATH",
    }
    items = [{**common, "name": "isa", "value": variant["isa"]}]
    for function, facts in variant["timed_functions"].items():
        name = f"library calls in {function}"
        items.append({**common, "name": name, "value": facts["library_calls"]})
    return items


def _limits(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The largest size of each array that links, in bytes; None where none does."""
    common = {key: found[key] for key in ("experiment", "define", "arrays", "most_bytes")}
    return [
        {
            **common,
            "point": "",
            "name": "largest static array",
            "value": item["links_bytes"],
            "unit": "bytes",
            "source": "compiler and linker",
            "state": "absent" if item["outcome"] == "cannot_run" else "ok",
            **item,
        }
        for item in found["items"]
    ]

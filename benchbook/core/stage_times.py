"""Where the time of a workflow went: every stage's command notes when it ran, `bench` adds up."""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VARIABLE = "BENCHBOOK_WORKFLOW"  # seconds since the epoch at which the workflow began
NOTES = Path("build/stages.jsonl")
KINDS = {"build": "building", "limits": "building", "measure": "measuring"}


def begin_workflow() -> None:
    """Mark this process, and all that it starts, as one workflow."""
    os.environ.setdefault(VARIABLE, repr(time.time()))


def note_at_exit(stage: str) -> None:
    """Append a line with this process's life when it ends; nothing outside a workflow."""
    workflow = os.environ.get(VARIABLE)
    if workflow is None:
        return
    begun = time.time() - _age_s()

    def note() -> None:
        line = {"workflow": workflow, "stage": stage, "from_s": begun, "to_s": time.time()}
        NOTES.parent.mkdir(parents=True, exist_ok=True)
        with NOTES.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    atexit.register(note)


def _age_s() -> float:
    """How long this process lives already: the interpreter's start counts too."""
    ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def split(notes: Path) -> dict[str, float] | None:
    """Seconds of the last workflow that measured: all, and those in which something was built, in
    which something was measured, and neither of them. None where none is noted."""
    lines = _read(notes)
    measured = [line["workflow"] for line in lines if line["stage"] == "measure"]
    if not measured:
        return None
    last = max(measured, key=float)
    own = [line for line in lines if line["workflow"] == last]
    spans: dict[str, list[tuple[float, float]]] = {"building": [], "measuring": []}
    for stage in own:
        if kind := KINDS.get(stage["stage"]):
            spans[kind].append((stage["from_s"], stage["to_s"]))
    whole = max(stage["to_s"] for stage in own) - float(last)
    both = covered([*spans["building"], *spans["measuring"]])
    measuring = covered(spans["measuring"])
    return {
        "all": whole,
        "measuring": measuring,
        "building": both - measuring,
        "the rest": whole - both,
    }


def workflow_s(notes: Path, moments: Sequence[float]) -> float | None:
    """Seconds of the last workflow in which all these moments lie, in s since 1970; None where it
    is not noted, or no moment is named."""
    ends: dict[str, float] = {}
    for line in _read(notes):
        ends[line["workflow"]] = max(line["to_s"], ends.get(line["workflow"], 0.0))
    spans = [
        (float(begun), end)
        for begun, end in ends.items()
        if moments and float(begun) - 1 <= min(moments) and max(moments) <= end
    ]
    return spans[-1][1] - spans[-1][0] if spans else None


def covered(spans: list[tuple[float, float]]) -> float:
    """Length of the union of spans."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def _read(notes: Path) -> list[dict[str, Any]]:
    if not notes.exists():
        return []
    stages = []
    for line in notes.read_text(encoding="utf-8").splitlines():
        try:
            stages.append(json.loads(line))
        except ValueError:
            continue  # torn by a kill
    return stages

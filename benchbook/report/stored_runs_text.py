"""`benchbook run` as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchbook.core.number_format import count, plural
from benchbook.core.sizes import format_bytes
from benchbook.records.stored_runs import State, StoredRun
from benchbook.report.text_table import aligned

VERSION = 1
HEADS = ("experiment", "preset", "begun (UTC)", "state", "samples", "size", "id")
EVERY_PAGE = "every page of its experiment, next to what was measured here"
TEXTS = {0, 1, 2, 3, 6}


def as_text(runs: Sequence[StoredRun]) -> str:
    """One line a run, host by host; recorded runs last."""
    if not runs:
        return "no run is stored here; `make` measures"
    lines: list[str] = []
    groups: dict[tuple[str, bool], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.host, run.is_recorded), []).append(run)
    for (host, is_recorded), members in groups.items():
        lines += ["", f"{host}, recorded or imported" if is_recorded else host]
        lines += aligned([HEADS, *map(_row, members)], TEXTS)
    total = sum(run.size_bytes for run in runs)
    return "\n".join([*lines[1:], "", f"{plural(len(runs), 'run')}, {format_bytes(total)}"])


def _row(run: StoredRun) -> tuple[str, ...]:
    return (
        run.experiment,
        run.preset or "unknown",
        f"{run.begun:%Y-%m-%d %H:%M}",
        f"{run.state}, one claim" if run.settles else run.state,
        count(run.samples),
        format_bytes(run.size_bytes),
        run.id,
    )


def as_json(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """The runs as `list --json` prints them."""
    return {"version": VERSION, "items": [_item(run) for run in runs]}


def one_as_json(run: StoredRun) -> dict[str, Any]:
    """A run as `show --json` prints it."""
    return {"version": VERSION, **_item(run)}


def _item(run: StoredRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "folder": str(run.folder),
        "host": run.host,
        "experiment": run.experiment,
        "preset": run.preset,
        "begun": f"{run.begun:%Y-%m-%dT%H:%M:%SZ}",
        "state": run.state,
        "reason": run.reason,
        "settles": run.settles,
        "recorded": run.is_recorded,
        "rounds": run.rounds,
        "samples": run.samples,
        "bytes": run.size_bytes,
        "commit": run.commit,
        "shown_by": list(run.shown_by),
    }


def one_as_text(run: StoredRun) -> str:
    """A run, one fact a line."""
    facts = {
        "id": run.id,
        "folder": str(run.folder),
        "host": run.host,
        "experiment": run.experiment,
        "preset": run.preset or "unknown",
        "begun": f"{run.begun:%Y-%m-%d %H:%M:%S} UTC",
        "state": f"{run.state}: {run.reason}" if run.reason else run.state,
        "settles": run.settles,
        "rounds": count(run.rounds),
        "samples": count(run.samples),
        "size": format_bytes(run.size_bytes),
        "commit": run.commit or "unknown",
        "shown by": ", ".join(run.shown_by) or (EVERY_PAGE if run.is_recorded else "no results"),
    }
    return "\n".join(f"{name:<11} {value}" for name, value in facts.items() if value)


def sound(run: StoredRun, is_sealed: bool) -> str:
    """What a check says of a run in which nothing was changed."""
    if run.state is State.INCOMPLETE:
        return "not complete, so it has no checksums yet"
    if not is_sealed:
        return "no checksums; its journal has the rounds that its manifest counts"
    return "every file matches its checksum"

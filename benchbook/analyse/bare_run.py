"""A complete run that was not analysed: its points and summaries, out of its journal."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.analyse.stage import failures, machine_states, why_not_measured, with_states
from benchbook.analyse.tables import write_samples
from benchbook.core.files import read_json, write_json
from benchbook.records import journal, seal


@dataclass(frozen=True)
class BareRun:
    """A run with its plan. Points are {point, variant, twin, factors, state, reason}; `summaries`
    has one row per start and point, with machine_state; `readings` are those of anchor and probe.
    """

    plan: dict[str, Any]
    points: list[dict[str, Any]]
    summaries: pd.DataFrame
    readings: list[dict[str, Any]]


def read_bare_run(run: Path) -> BareRun:
    """The run in this folder; BenchbookError where it is damaged."""
    seal.verify(run)
    plan = read_json(run / journal.PLAN)
    pointer = {"version": 1, "experiment": plan["experiment"], "run": run.name, "folder": str(run)}
    states, readings = machine_states(run)
    with tempfile.TemporaryDirectory() as scratch:
        place, samples = Path(scratch) / "pointer.json", Path(scratch) / "samples.parquet"
        write_json(place, pointer)
        write_samples(place, samples)
        summaries, _ = with_states(samples, plan["paper_samples"], states)
    measured, failed = set(summaries["point"]), failures(run)
    points = [
        {"point": point["id"], **{key: point[key] for key in ("variant", "twin", "factors")}}
        | (
            {"state": "ok", "reason": ""}
            if point["id"] in measured
            else why_not_measured(point["id"], failed)
        )
        for point in plan["points"]
    ]
    return BareRun(plan, points, summaries, readings)

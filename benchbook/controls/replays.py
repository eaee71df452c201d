"""Scenes for the detectors that no machine at hand could play: recorded or synthetic samples.

A control's replay.py has `scenes(seed) -> list[Scene]`; they pass through the same summaries and
the same detectors as what was measured, and are counted as replayed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.analyse.sample_quality import steadiness
from benchbook.analyse.stage import center, rates
from benchbook.detect import Seen

SAMPLE_COLUMNS = [
    "point",
    "block",
    "invocation",
    "sample",
    "warm_up",
    "t_start_ns",
    "time_ns",
    "bytes_declared",
]


@dataclass(frozen=True)
class Scene:
    """One table to be judged, and whether the artefact is in it; ids mean nothing.

    points: {where, physical columns, observations}, as Seen.points has them; with `samples` their
    times come from there, else each gives time_ns and bytes_per_call itself. samples:
    SAMPLE_COLUMNS, one row per call; starts: further columns of a start, found by {where, block}.
    The rest as in Seen.
    """

    provoked: bool
    points: list[dict[str, Any]]
    samples: pd.DataFrame | None = None
    starts: list[dict[str, Any]] = field(default_factory=list)
    readings: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)
    host: dict[str, Any] = field(default_factory=dict)


def seen_of_scene(scene: Scene) -> Seen:
    """The scene as a detector sees a run: summaries and states are made as for a measured one."""
    readings = _with_states(pd.DataFrame(scene.readings))
    summaries = _summaries(scene.samples, readings)
    rows = [_row(point, scene.samples, summaries) for point in scene.points]
    starts = summaries.rename(columns={"point": "where"})
    if scene.starts:
        more = pd.DataFrame(scene.starts)
        starts = more if starts.empty else starts.merge(more, on=["where", "block"], how="left")
    again = [row.pop("again", "") for row in rows]
    return Seen(
        points=pd.DataFrame([row for row, twin in zip(rows, again, strict=True) if not twin]),
        twins=pd.DataFrame(
            [row | {"again": twin} for row, twin in zip(rows, again, strict=True) if twin]
        ),
        starts=starts,
        readings=readings,
        evidence=[{"where": "", **row} for row in scene.evidence],
        missing=scene.missing,
        host=scene.host,
    )


def _with_states(readings: pd.DataFrame) -> pd.DataFrame:
    if readings.empty or "state" in readings:
        return readings
    states = stats.assign_states(readings)
    return readings.merge(states, on=["t_ns", "name", "value"], how="left")


def _summaries(samples: pd.DataFrame | None, readings: pd.DataFrame) -> pd.DataFrame:
    if samples is None or samples.empty:
        return pd.DataFrame(columns=["point", "block"])
    # A settable clock may step back; a summary knows no time below nothing.
    table = stats.invocation_summaries(samples.assign(time_ns=samples["time_ns"].clip(lower=0)))
    kept = samples.assign(t_end_ns=samples["t_start_ns"] + samples["time_ns"].clip(lower=0))
    starts = kept.groupby(["point", "block", "invocation"])
    spans = {"t_start_ns": starts["t_start_ns"].min(), "t_end_ns": starts["t_end_ns"].max()}
    table = table.merge(pd.DataFrame(spans).reset_index(), on=["point", "block", "invocation"])
    table["disturbed"] = False
    states = readings.dropna(subset=["state"]) if len(readings) else readings
    if len(states):
        of_starts = stats.state_of(table[["t_start_ns", "t_end_ns"]], states)
        table["machine_state"] = of_starts.to_numpy()
    return table


def _row(
    point: dict[str, Any], samples: pd.DataFrame | None, summaries: pd.DataFrame
) -> dict[str, Any]:
    """The point with what its samples tell; what the scene says itself stands."""
    made: dict[str, Any] = {"environment": {}}
    own = summaries[summaries["point"] == point["where"]] if len(summaries) else summaries
    if samples is not None and len(own):
        calls = samples[samples["point"] == point["where"]]
        made |= steadiness(calls)
        made |= {"samples": int(own["samples"].sum()), "blocks": len(own)}
        made |= {"best_ns": float(own["best_ns"].min())}
        made["bytes_per_call"] = float(own["bytes_declared"].iloc[0])
        if (own["median_ns"] > 0).all():
            made |= center(own["median_ns"])
            made |= rates(made["bytes_per_call"], made)
        else:  # a median of no time is no time that a rate could come of
            middle = float(own["median_ns"].median())
            made["time_ns"] = middle if middle > 0 else math.nan
    ids = dict.fromkeys(("series", "setting", "twin"), point["where"])
    return {**ids, **made, **point}

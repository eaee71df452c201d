"""The chain of an anomaly: which twin stands behind which point, and what each cause predicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchbook.analyse.pairwise import usable
from benchbook.analyse.tables import rate
from benchbook.define.points import Point, expand
from benchbook.estimands import ABSENT
from benchbook.judge import causes
from benchbook.judge.cause_context import CannotTell, Context
from benchbook.judge.traffic.bytes_moved import by_point

NOT_REACHED = "stands behind a twin that was not measured"
UNKNOWN_SIZE = "a size that it names is unknown here"
Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What one run says, in the forms in which chains and causes read it."""

    content: Row
    analysis: Row
    summaries: pd.DataFrame
    thresholds: dict[str, dict[str, int]]
    moved: list[Row]
    logs: pd.DataFrame = field(default_factory=pd.DataFrame)
    states: pd.DataFrame = field(default_factory=pd.DataFrame)

    def state_of(self, point: Point | None) -> Row:
        """State and reason of a point; of None those of a size that is unknown here."""
        if point is None:
            return {"state": "cannot_run", "reason": UNKNOWN_SIZE}
        by_id = {measured["point"]: measured for measured in self.analysis["points"]}
        state: Row = by_id.get(point.id, ABSENT)
        return ABSENT if state["state"] == "ok" and point.id not in self.logs else state

    def point_of(self, setting: Row) -> Point | None:
        """The point that a setting names on this host."""
        found, _ = expand(self.content, [setting], self.analysis["sizes"])
        return found[0] if found else None


def run_of(content: Row, analysis: Row, summaries: pd.DataFrame, items: list[Row]) -> Run:
    """A run from its definition, analysis.json, summaries and rows of evidence.json."""
    thresholds: dict[str, dict[str, int]] = {}
    for item in items:
        if item["source"] == "C library" and item["state"] == "ok":
            name = str(item["name"]).removesuffix("_bytes")
            thresholds.setdefault(item["variant"], {})[name] = item["value"]
    moved = by_point(items, content)
    if summaries.empty:
        return Run(content, analysis, summaries, thresholds, moved)
    table = summaries.assign(
        log=np.log(rate(summaries["bytes_declared"], summaries["median_ns"]))
    ).drop_duplicates(["block", "point"])
    return Run(
        content,
        analysis,
        summaries,
        thresholds,
        moved,
        table.pivot(index="block", columns="point", values="log").sort_index(),
        table.pivot(index="block", columns="point", values="machine_state").sort_index(),
    )


@dataclass(frozen=True)
class Link:
    """A step with what was found for it; `without_cause` is the base where it has no twin."""

    cause: str
    with_cause: str
    without_cause: str
    twin: bool
    lost: str  # why a declared twin is not there
    answer: Any


def chain(anomaly: Row, run: Run, odd: str, base: str) -> Iterator[Link]:
    """The steps of an anomaly between two measured points, in their order."""
    before, lost = odd, ""
    for step in anomaly["steps"]:
        removed, other, why = None, base, ""
        if "removed" in step:
            removed = run.point_of(step["removed"])
            state = run.state_of(removed)
            why = lost and NOT_REACHED
            if not why and state["state"] != "ok":
                why = lost = f"{removed.id}: {state['reason']}" if removed else state["reason"]
            if not why and removed:
                other = removed.id
        twin = "removed" in step and not why
        with_cause = before if twin else odd
        answer: Any = CannotTell(f"Its twin is missing: {why}.")
        if not why:
            answer = _asked(step["cause"], run, (with_cause, other, base), twin)
        yield Link(step["cause"], with_cause, other, twin, why, answer)
        before = other if twin else before


def _asked(cause: str, run: Run, sides: tuple[str, str, str], twin: bool) -> Any:
    points = usable(run.analysis["points"])
    anchors: dict[str, list[float]] = {}
    for reading in run.analysis.get("readings", []):
        if reading["name"] == "anchor" and reading["state"] is not None:
            anchors.setdefault(str(reading["state"]), []).append(reading["value"])
    context = Context(
        content=run.content,
        with_cause=points[sides[0]],
        without_cause=points[sides[1]],
        base=points[sides[2]],
        twin=twin,
        points={name: point for name, point in points.items() if name in run.logs},
        logs=run.logs,
        states=run.states,
        anchors={state: float(np.median(values)) for state, values in anchors.items()},
        thresholds=run.thresholds,
        moved=run.moved,
        caches=run.analysis["caches"],
        total_llc_bytes=run.analysis["sizes"]["total LLC"],
        isa=(run.analysis.get("facts") or {}).get("isa") or (),
        page_bytes=run.analysis.get("page_bytes"),
    )
    return causes.cause_of(cause).predict(context)

"""The chain of an anomaly: which twin stands behind which point, and what each cause predicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchbook.analyse.pairwise import usable
from benchbook.analyse.tables import rate
from benchbook.core.reason_codes import Code, Reason
from benchbook.define.models import Setting, Step
from benchbook.define.points import Point, expand
from benchbook.estimands import ABSENT, missing
from benchbook.judge import causes
from benchbook.judge.cause_context import Answer, Context
from benchbook.judge.traffic.bytes_moved import by_point

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

    def why_missing(self, point: Point | None) -> Reason | None:
        """Why a point has no rates, None where it has; None as a point: its size is unknown
        here."""
        if point is None:
            return Reason(Code.SIZE_UNKNOWN)
        by_id = {measured["point"]: measured for measured in self.analysis["points"]}
        state = by_id.get(point.id, ABSENT)
        if state["state"] != "ok":
            return missing(point.id, state)
        return None if point.id in self.logs else missing(point.id, ABSENT)

    def point_of(self, setting: Setting) -> Point | None:
        """The point that a setting names on this host."""
        points, _ = expand(self.content, [setting], self.analysis["sizes"])
        return points[0] if points else None


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
    """A step of an anomaly: its cause, its two points, and the cause's answer.

    `without_cause` is the anomaly's base where the step has no twin; `lost` is why a declared twin
    was not measured, and then there is no answer.
    """

    cause: str
    with_cause: str
    without_cause: str
    twin: bool
    lost: Reason | None
    answer: Answer | None


def chain(steps: Iterable[Step], run: Run, odd: str, base: str) -> Iterator[Link]:
    """The steps of an anomaly between two measured points, in their order."""
    before = odd
    lost: Reason | None = None
    for step in steps:
        cause = step.cause
        if step.removed is None:
            yield Link(cause, odd, base, False, None, _answer(cause, run, (odd, base, base), False))
            continue
        removed = run.point_of(step.removed)
        why = Reason(Code.BEHIND_A_LOST_TWIN) if lost else run.why_missing(removed)
        if why or removed is None:
            lost = why
            yield Link(cause, odd, base, False, why, None)
            continue
        sides = (before, removed.id, base)
        yield Link(cause, before, removed.id, True, None, _answer(cause, run, sides, True))
        before = removed.id


def _answer(cause: str, run: Run, sides: tuple[str, str, str], twin: bool) -> Answer:
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
    answer: Answer = causes.cause_of(cause).predict(context)
    return answer

"""What a cause of an odd factor may look at, and what it may answer.

Standard library only: the Snakefile imports this.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

Point = dict[str, Any]
Evidence = list[dict[str, Any]]


@dataclass(frozen=True)
class Predicted:
    """A log factor of rates, with the cause ÷ without it: a number, or a series by block where it
    rests on rates.

    `why` is a sentence with this run's figures, `evidence` the rows that it rests on.
    """

    log: Any
    why: str
    evidence: Evidence = field(default_factory=list)


@dataclass(frozen=True)
class Excluded:
    """The evidence leaves this cause no effect here: its factor is 1."""

    why: str
    evidence: Evidence = field(default_factory=list)


@dataclass(frozen=True)
class CannotTell:
    """What is missing."""

    why: str


Answer = Predicted | Excluded | CannotTell


@dataclass(frozen=True)
class Context:
    """What a cause may look at.

    with_cause, without_cause: points of the analysis; the second is the twin of the first with only
      this cause removed, or the anomaly's base where the step has no twin (`twin` False).
    points: all measured points of ours by id.
    logs: logs of rates, blocks down and points across.
    states: the machine's state in the same form.
    anchors: the median time of the machine's anchor by state, ns.
    thresholds: of the C library's copying, by variant, bytes.
    moved: rows of `judge.traffic.bytes_moved.by_point`.
    caches: by name, in bytes, as `total_llc_bytes` is.
    isa: the processor's features as /proc/cpuinfo calls them.
    page_bytes: of the host's ordinary pages.
    """

    content: dict[str, Any]
    with_cause: Point
    without_cause: Point
    base: Point
    twin: bool
    points: dict[str, Point]
    logs: Any
    states: Any
    anchors: dict[str, float]
    thresholds: dict[str, dict[str, int]]
    moved: list[dict[str, Any]]
    caches: dict[str, int]
    total_llc_bytes: int | None
    isa: Collection[str] = ()
    page_bytes: int | None = None

    def sides(self) -> tuple[Point, Point]:
        """The two points between which the factor lies."""
        return self.with_cause, self.without_cause

    def apart(self) -> Collection[str]:
        """Ids of the points whose times a prediction must not rest on."""
        return {self.with_cause["point"], self.without_cause["point"]}


def row(point: Point, name: str, unit: str = "", source: str = "") -> dict[str, Any]:
    """An observation of a point as a row of evidence; `source` where it is no plain observation."""
    value = seen(point, name)
    known = fact(name, value, unit, source or "observed", point["point"])
    return known | {"state": "absent" if value is None else "ok"}


def fact(name: str, value: Any, unit: str, source: str, point: str = "") -> dict[str, Any]:
    """What is known without an observation, as a row of evidence."""
    about = {"point": point, "name": name, "value": value}
    return about | {"unit": unit, "source": source, "state": "ok"}


def seen(point: Point, name: str) -> Any:
    """An observation of a point; None where there is none."""
    return point["observations"].get(name)

"""timer-granularity: what was timed lasts a few ticks of the clock, or a few readings of it.

Decided by the samples themselves: a coarse clock gives few distinct intervals, all of them whole
ticks. Where they show no tick, what the clock's own readings showed counts; what a reading costs is
part of every interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import columns, number_of
from benchbook.findings import Effect, Finding

if TYPE_CHECKING:
    import pandas as pd

LEAST_TICKS = 20
LEAST_READINGS = 20
NO_NUMBER = 2  # ticks or readings, below which the interval is the clock's own
ARTEFACT = artefact("timer-granularity")


@dataclass(frozen=True)
class _Coarse:
    """A point whose intervals last few ticks of the clock, or few readings of it; times in ns."""

    row: dict[str, Any]
    tick: float | None
    cost: float | None
    ticks: float  # in an interval
    readings: float  # times as long

    @property
    def by_tick(self) -> bool:
        return self.ticks < LEAST_TICKS

    @property
    def by_cost(self) -> bool:
        return self.readings < LEAST_READINGS

    @property
    def effect(self) -> Effect:
        """Whole ticks are noise, up as often as down; what a reading takes is always added."""
        if min(self.ticks, self.readings) < NO_NUMBER:
            return "invalidates"
        return "biases" if self.by_cost else "informs"

    @property
    def factor(self) -> float | None:
        """Honest time ÷ seen, where the cost of a reading alone is what is wrong."""
        interval = self.row["sample_ns"]
        honest = (interval - self.cost) / interval if self.cost and not self.by_tick else 0.0
        return honest if honest > 0 else None

    @property
    def observed(self) -> dict[str, Any]:
        """What tells it, the interval first."""
        return {
            "sample_ns": self.row["sample_ns"],
            "clock_tick_ns": self.tick,
            "clock_cost_ns": self.cost,
            **columns(self.row, "distinct_times", "zero_share"),
        }


def detect(seen: Seen) -> Judged:
    """One finding for all points with intervals of under 20 ticks, or under 20 readings of the
    clock, to which that does the same: it biases them, leaves them no number, or blurs them.

    Abstains where neither the samples nor the clock's readings tell a tick.
    """
    judged = Judged()
    by_effect: dict[Effect, list[_Coarse]] = {}
    for row in seen.rows():
        starts = seen.starts_of(row["where"])
        reported = _of_starts(starts, row, "clock_resolution_ns")
        tick = _tick(row, reported)
        cost = _of_starts(starts, row, "clock_cost_ns")
        if not is_known(row.get("sample_ns")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        elif tick is None and cost is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-tick")
        elif coarse := _coarse(row, tick, cost):
            by_effect.setdefault(coarse.effect, []).append(coarse)
    judged.findings = [_finding(effect, by_effect[effect]) for effect in sorted(by_effect)]
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _of_starts(starts: pd.DataFrame, row: dict[str, Any], name: str) -> float | None:
    """The median over starts; else what the point itself says."""
    values = starts[name].dropna() if name in starts else starts[:0]
    if len(values):
        return float(values.astype(float).median())
    return number_of(row, name)


def _tick(row: dict[str, Any], reported: float | None) -> float | None:
    """At most this is the tick in ns; None where neither samples nor readings tell.

    No two intervals differ by less than a tick, so their smallest difference is a bound. Where they
    do not coincide, or are only two values that may lie apart by chance, the clock's readings know
    better.
    """
    step = row.get("clock_step_ns")
    if not is_known(step):
        return reported
    surely = row["times_coincide"] and (
        reported is None
        or step <= 2 * reported
        or row["distinct_times"] > 2
        or row["zero_share"] > 0
    )
    if surely or row["sample_ns"] >= LEAST_TICKS * step:
        return float(step)
    return reported


def _coarse(row: dict[str, Any], tick: float | None, cost: float | None) -> _Coarse | None:
    interval = row["sample_ns"]
    ticks = interval / tick if tick else math.inf
    readings = interval / cost if cost else math.inf
    if ticks >= LEAST_TICKS and readings >= LEAST_READINGS:
        return None
    return _Coarse(row, tick, cost, ticks, readings)


def _finding(effect: Effect, points: list[_Coarse]) -> Finding:
    """What is true of all, in the words of the one with the shortest interval."""
    worst = min(points, key=lambda point: [*filter(is_known, point.observed.values())])
    several, by_tick, by_cost = len(points) > 1, worst.by_tick, worst.by_cost
    words = {
        **worst.observed,
        "tick": worst.tick,
        "ticks": worst.ticks,
        "cost": worst.cost,
        "readings": worst.readings,
        "zeros": worst.row.get("zero_share") or None,
        "wrong": 1 / max(worst.ticks, 1),
        "clock_part": 1 / max(worst.readings, 1),
        "by_tick": by_tick,
        "by_cost": by_cost,
        "by_both": by_tick and by_cost,
        "is_below_tick": by_tick and worst.ticks < 1,
        "lasts_ticks": by_tick and worst.ticks >= 1,
        "is_all_clock": by_cost and worst.readings <= 1,
        "is_part_clock": by_cost and worst.readings > 1,
        "timed": "a timed" if several else "A timed",
        "reading": "reading" if several and not by_tick else "Reading",
    }
    factors = {point.row["where"]: point.factor for point in points if point.factor is not None}
    return ARTEFACT.finding(
        [point.row for point in points],
        words,
        "by-tick" if all(point.by_tick for point in points) else "by-cost",
        effect=effect,
        factor=worst.factor,
        factors=factors if several else None,
    )

"""timer-granularity: what was timed lasts a few ticks of the clock, or a few readings of it.

Decided by the samples themselves: a coarse clock gives few distinct intervals, all of them whole
ticks. Where they show no tick, what the clock's own readings showed counts; what a reading costs is
part of every interval.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchbook.core.number_format import count, duration, number, share
from benchbook.detect import Judged, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of
from benchbook.findings import Artefact, Effect, Finding, proof

if TYPE_CHECKING:
    import pandas as pd

LEAST_TICKS = 20
LEAST_READINGS = 20
NO_NUMBER = 2  # ticks or readings, below which the interval is the clock's own
SURE, BY_COST = 1.0, 0.9
ARTEFACT = Artefact(
    "timer-granularity",
    "Repeat the work inside one timed interval until that lasts some hundred ticks and readings of "
    "the clock, and divide by the repetitions.",
)


def detect(seen: Seen) -> Judged:
    """One finding for all points with intervals of under 20 ticks, or under 20 readings of the
    clock, to which that does the same: it biases them, leaves them no number, or blurs them.

    Abstains where neither the samples nor the clock's readings tell a tick.
    """
    judged = Judged()
    by_kind: dict[str, list[Finding]] = {}
    for row in seen.rows():
        starts = seen.starts_of(row["where"])
        reported = _of_starts(starts, row, "clock_resolution_ns")
        tick = _tick(row, reported)
        cost = _of_starts(starts, row, "clock_cost_ns")
        if not is_known(row.get("sample_ns")):
            judged.abstained[row["where"]] = "its samples were not looked at"
        elif tick is None and cost is None:
            judged.abstained[row["where"]] = (
                "too few samples to show the clock's tick, and its readings were not timed"
            )
        elif finding := _finding(row, tick, cost):
            by_kind.setdefault(finding.effect, []).append(finding)
    judged.findings = [_together(by_kind[effect]) for effect in sorted(by_kind)]
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _together(alike: list[Finding]) -> Finding:
    """What is true of all, in the words of the one with the shortest interval."""
    if len(alike) == 1:
        return alike[0]
    worst = min(alike, key=lambda finding: [float(fact["value"]) for fact in finding.evidence])
    first, rest = worst.explanation[0].lower(), worst.explanation[1:]
    return replace(
        worst,
        where=sorted(where for finding in alike for where in finding.where),
        confidence=min(finding.confidence for finding in alike),
        factors={
            finding.where[0]: finding.factor for finding in alike if finding.factor is not None
        },
        explanation=f"At {count(len(alike))} points, most of all where {first}{rest}",
    )


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


def _finding(row: dict[str, Any], tick: float | None, cost: float | None) -> Finding | None:
    interval = row["sample_ns"]
    ticks = interval / tick if tick else float("inf")
    readings = interval / cost if cost else float("inf")
    if ticks >= LEAST_TICKS and readings >= LEAST_READINGS:
        return None
    # Whole ticks are noise, up as often as down; what a reading takes is always added.
    effect: Effect = "biases" if readings < LEAST_READINGS else "informs"
    if min(ticks, readings) < NO_NUMBER:
        effect = "invalidates"
    honest = (interval - cost) / interval if cost and ticks >= LEAST_TICKS else 0.0
    words = []
    if ticks < LEAST_TICKS:
        words.append(_of_ticks(row, interval, tick or 0.0, ticks))
    if cost and readings < LEAST_READINGS:
        words.append(_of_readings(interval, cost, readings))
    return ARTEFACT.finding(
        effect=effect,
        where=[row["where"]],
        confidence=SURE if ticks < LEAST_TICKS else BY_COST,
        factor=honest if honest > 0 else None,
        evidence=[
            proof(name, value, unit, source)
            for name, value, unit, source in (
                ("sample_ns", interval, "ns", "samples"),
                ("clock_tick_ns", tick, "ns", "samples"),
                ("clock_cost_ns", cost, "ns", "clock"),
                ("distinct_times", row.get("distinct_times"), "values", "samples"),
                ("zero_share", row.get("zero_share"), "1", "samples"),
            )
            if is_known(value)
        ],
        explanation=" ".join(words),
    )


def _of_ticks(row: dict[str, Any], interval: float, tick: float, ticks: float) -> str:
    zero = row.get("zero_share") or 0.0
    zeros = f", and {share(zero)} of them are zero" if zero else ""
    lasts = "less than one tick" if ticks < 1 else f"{number(ticks)} ticks"
    each = "more than the interval itself" if ticks < 1 else share(1 / ticks)
    return (
        f"A timed interval lasts {lasts} of a clock that moves in steps of {duration(tick)} "
        f"(median {duration(interval)}, {count(row['distinct_times'])} distinct intervals"
        f"{zeros}), so each may be wrong by {each}."
    )


def _of_readings(interval: float, cost: float, readings: float) -> str:
    part = (
        "all of the number may be the clock's own time"
        if readings <= 1
        else f"about {share(1 / readings)} of the number is the clock's own time"
    )
    return (
        f"Reading the clock takes {duration(cost)}, and the interval between two readings is "
        f"{duration(interval)}, {number(readings)} times that: {part}. "
        "The cost was timed apart from these samples, so that is an estimate."
    )

"""What disturbed an invocation, judged by thresholds that were set before the run."""

from __future__ import annotations

from typing import Any

from benchbook.invoke import Result
from benchbook.points import Point


def of_result(group: list[Point], result: Result, thresholds: dict[str, Any]) -> list[str]:
    """One sentence for each threshold that an invocation passed; unread values pass nothing."""
    found = []
    for point, outcome in zip(group, result.points, strict=True):
        delay, wall = outcome.usage.get("run_delay_ns"), outcome.usage.get("wall_ns")
        if delay and wall and delay / wall > thresholds["run_delay_fraction"]:
            found.append(f"waited for its CPU {delay / wall:.1%} of its time at {point.id}")
    steal = result.steal_fraction
    if steal is not None and steal > thresholds["steal_fraction"]:
        found.append(f"the hypervisor took {steal:.1%} of the time")
    return found


def of_probe(slowdown: dict[int, float], thresholds: dict[str, Any]) -> list[str]:
    """Cores that did their fixed work clearly slower than at their best in this run."""
    return [
        f"CPU {cpu} did its fixed work {factor:.2f} times slower than at its best"
        for cpu, factor in slowdown.items()
        if factor > thresholds["work_factor"]
    ]

"""What disturbed an invocation, judged by thresholds that were set before the run."""

from __future__ import annotations

from typing import Any

from benchbook.define.models import Disturbance
from benchbook.define.points import Point, workers
from benchbook.measure.invocation import Result


def run_delay_ns(usage: dict[str, Any], count: int, cpus: int) -> float | None:
    """How long a process or thread waited for its CPU in one point, in ns, averaged over `count`.

    None where the system does not account it, and where they outnumber CPUs: that they wait for
    their turn is then what is measured, and no disturbance. Linux books a wait when it ends, so
    part of one may be from before the point: they waited no longer than they did not run.
    """
    delay_ns = usage.get("run_delay_ns")
    if delay_ns is None or count > cpus:
        return None
    wall_ns, on_cpu_ns = usage.get("wall_ns"), usage.get("on_cpu_ns")
    if wall_ns is not None and on_cpu_ns is not None:
        delay_ns = min(delay_ns, max(count * wall_ns - on_cpu_ns, 0))
    return float(delay_ns) / count


def of_result(group: list[Point], result: Result, cpus: int, thresholds: Disturbance) -> list[str]:
    """One sentence for each threshold that an invocation passed; unread values pass nothing."""
    reasons = []
    count = workers(group[0].factors)
    delay_ns = sum(run_delay_ns(point.usage, count, cpus) or 0 for point in result.points)
    timed_ns = sum(point.usage.get("wall_ns") or 0 for point in result.points)
    # Over all points of the start, and not of a moment: where a start times two milliseconds in
    # all, one wait of a tenth of one is a large share and reaches no median.
    long = delay_ns > thresholds.run_delay_least_ns
    if long and timed_ns and delay_ns / timed_ns > thresholds.run_delay_fraction:
        reasons.append(f"waited for its CPU {delay_ns / timed_ns:.1%} of its time at {group[0].id}")
    steal = result.steal_fraction
    if steal is not None and steal > thresholds.steal_fraction:
        reasons.append(f"the hypervisor took {steal:.1%} of the time")
    return reasons


def of_probe(slowdown: dict[int, float], thresholds: Disturbance) -> list[str]:
    """Cores that did their fixed work clearly slower than at their best in this run."""
    return [
        f"CPU {cpu} did its fixed work {factor:.2f} times slower than at its best"
        for cpu, factor in slowdown.items()
        if factor > thresholds.work_factor
    ]

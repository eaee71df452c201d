"""The pilot: how often each point loops and repeats inside an invocation, fixed for the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchbook.invoke import Result
from benchbook.plan import Plan, refuse_over_budget
from benchbook.points import Point
from benchbook.start import Numbers, first_unfinished

PILOT_SAMPLES = 3
TRIES = 2
BUDGET_USED = 0.85  # of the budget that the least number of blocks may fill; the rest is reserve
AFFORDABLE_NS = 400_000_000  # spent on reaching the paper's own N at one point

Start = Callable[[list[Point], Numbers], Result]


def pilot(plan: Plan, groups: list[list[Point]], start: Start) -> dict[str, Any]:
    """Run every group once; returns the journal's pilot record (without `kind`).

    The point that a program died in is tried once more alone, in case somebody else ended it;
    the others go on without it.
    """
    numbers: Numbers = {
        point.id: {"loops": 1, "samples": PILOT_SAMPLES, "warmup": 1}
        for group in groups
        for point in group
    }
    once_ns: dict[str, float] = {}
    failed: dict[str, dict[str, str]] = {}
    wall_ns = 0
    overhead_ns = 0.0
    attempts = [(group, 1) for group in groups]
    while attempts:
        points, tries = attempts.pop(0)
        result = start(points, numbers)
        wall_ns += result.wall_ns
        dead = first_unfinished(result)
        if dead is not None:
            guilty, rest = points[dead], points[:dead] + points[dead + 1 :]
            outcome = result.points[dead]
            if outcome.state != "timeout" and tries < TRIES:
                attempts.append(([guilty], tries + 1))
            else:
                failed[guilty.id] = {"state": outcome.state, "reason": outcome.reason}
            if rest:
                attempts.append((rest, tries))
            continue
        timed_ns = 0.0
        for point, outcome in zip(points, result.points, strict=True):
            if outcome.state == "ok":
                once_ns[point.id] = max(1.0, float(min(outcome.time_ns)))
                timed_ns += sum(outcome.time_ns)
            else:
                failed[point.id] = {"state": outcome.state, "reason": outcome.reason}
        overhead_ns += max(0.0, result.wall_ns - timed_ns)
    numbers, block_ns = calibrate(plan, once_ns, overhead_ns)
    if once_ns:
        refuse_over_budget(plan, block_ns * plan.least / 1e9)
    return {"points": numbers, "failed": failed, "block_ns": round(block_ns), "wall_ns": wall_ns}


def calibrate(plan: Plan, once_ns: dict[str, float], overhead_ns: float) -> tuple[Numbers, float]:
    """Loops and samples of each point, and the time of a block in ns.

    `once_ns`: time of one call of the method; `overhead_ns`: of a block, beside its samples.
    Samples shrink evenly until the least number of blocks fits, down to samples_least; in preset
    paper down to the paper's own N.
    """
    settings = plan.settings
    least = settings["samples_least"]
    if settings["preset"] == "paper":  # each paper's own N, or a plan that is refused
        least = max(least, plan.paper_samples)
    numbers: Numbers = {}
    sample_ns: dict[str, float] = {}
    for name, once in once_ns.items():
        loops = max(1, math.ceil(settings["sample_least_ns"] / once))
        sample_ns[name] = once * loops
        samples = round(settings["point_s"] * 1e9 / sample_ns[name])
        samples = min(max(samples, settings["samples_least"]), settings["samples_most"])
        if plan.paper_samples * sample_ns[name] < AFFORDABLE_NS:
            samples = max(samples, plan.paper_samples)
        samples = max(samples, least)
        numbers[name] = {"loops": loops, "samples": samples, "warmup": settings["warmup"]}

    def block_ns() -> float:
        return overhead_ns + sum(
            sample_ns[name] * (count["samples"] + count["warmup"])
            for name, count in numbers.items()
        )

    allowed_ns = BUDGET_USED * settings["budget_s"] * 1e9 / plan.least
    while block_ns() > allowed_ns:
        before = block_ns()
        for count in numbers.values():
            count["samples"] = max(least, math.floor(count["samples"] * 0.9))
        if block_ns() == before:
            break
    return numbers, block_ns()

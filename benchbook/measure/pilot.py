"""The pilot: how often each point loops and repeats inside an invocation, fixed for the run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchbook.define.points import Point, grouped, memory_needed
from benchbook.measure.invocation import Result
from benchbook.measure.starter import Numbers, first_unfinished
from benchbook.plan.plan import PAPER, Plan

PILOT_SAMPLES = 3
TRIES = 2
BUDGET_USED = 0.85  # of the budget that the blocks wanted may fill; the rest is reserve
# Samples are given up for so many rounds: at 8, the interval of one of several claims reaches from
# the least ratio of a round to the largest.
ROUNDS_WANTED = 12
CHEAP = 0.1  # of the usual price of a start, or of a point: leaving it out helps nobody
KEPT_SHARE = 0.5  # of the starts stay, up to BORNE times the budget
BORNE = 2.0  # times the budget: who planned did not know how busy the host would be
AFFORDABLE_NS = 400_000_000  # spent on reaching the paper's own N at one point
# A whole program that takes longer is timed without a warm-up: new memory adds some 0.5 ms to it.
OWN_WARM_UP_NS = 20_000_000


@dataclass(frozen=True)
class StartCost:
    """One start of the program: its points, and its time beside their samples."""

    points: list[str]
    overhead_ns: float

    def of(self, plan: Plan, usual_ns: dict[str, float], numbers: Numbers) -> float:
        """Time of a block in ns, at these numbers of loops and samples."""
        return self.overhead_ns + sum(
            usual_ns[name] * numbers[name]["loops"] * repetitions(plan, name, numbers[name])
            for name in self.points
            if name in numbers
        )


def repetitions(plan: Plan, name: str, count: dict[str, int]) -> int:
    """How often a start repeats a point: its samples, the warm-ups before the first part, and those
    before each later one (kernels/common/turns.c)."""
    parts = min(plan.settings.turns, count["samples"]) if name in plan.takers else 1
    once = count["samples"] + count["warmup"]
    if parts == 1 or plan.begins_turns_cold(name):
        return once
    return once + (parts - 1) * math.ceil(count["warmup"] / parts)


# Until a pilot measures it: of one thread that copies, or touches memory for the first time.
ASSUMED_BYTES_PER_NS = 4.0
ASSUMED_CALL_NS = 1000.0
ASSUMED_START_NS = 3e7

Start = Callable[[list[Point], Numbers], Result]


def pilot(
    plan: Plan,
    groups: list[list[Point]],
    start: Start,
    start_ahead: Callable[[list[Point], Numbers], None],
) -> dict[str, Any]:
    """Run every group once; returns the journal's pilot record (without `kind`).

    The point that a program died in is tried once more alone, in case somebody else ended it;
    the others go on without it. A peer that sleeps before it measures is started ahead and goes
    last: it sleeps meanwhile, as it does in the blocks, and its price is the block's.
    """
    numbers: Numbers = {
        point.id: {"loops": 1, "samples": PILOT_SAMPLES, "warmup": 1}
        for group in groups
        for point in group
    }
    once_ns: dict[str, float] = {}
    usual_ns: dict[str, float] = {}
    failed: dict[str, dict[str, str]] = {}
    wall_ns = 0
    costs: list[StartCost] = []
    asleep = [group for group in groups if _sleeps_before(plan, group)]
    for group in asleep:
        start_ahead(group, numbers)

    def book(points: list[Point], result: Result) -> None:
        timed_ns = 0.0
        for point, outcome in zip(points, result.points, strict=True):
            if outcome.state == "ok":
                once_ns[point.id] = max(1.0, min(outcome.time_ns) / outcome.loops)
                middle = statistics.median(outcome.time_ns) / outcome.loops
                usual_ns[point.id] = max(1.0, middle)
                timed_ns += sum(outcome.time_ns) / outcome.processes
            else:
                failed[point.id] = {"state": outcome.state, "reason": outcome.reason}
        names = [point.id for point in points]
        costs.append(StartCost(names, max(0.0, result.wall_ns - timed_ns)))

    attempts = [(group, 1) for group in [*(own for own in groups if own not in asleep), *asleep]]
    while attempts:
        points, tries = attempts.pop(0)
        result = start(points, numbers)
        wall_ns += result.wall_ns
        dead = first_unfinished(result)
        if dead is None:
            book(points, result)
            continue
        guilty, rest = points[dead], points[:dead] + points[dead + 1 :]
        outcome = result.points[dead]
        if outcome.state != "timeout" and tries < TRIES:
            attempts.append(([guilty], tries + 1))
        else:
            failed[guilty.id] = {"state": outcome.state, "reason": outcome.reason}
        if rest:
            attempts.append((rest, tries))
    numbers, block_ns, shed = fit(plan, once_ns, costs, usual_ns)
    failed |= {name: {"state": "cannot_run", "reason": reason} for name, reason in shed.items()}
    return {"points": numbers, "failed": failed, "block_ns": round(block_ns), "wall_ns": wall_ns}


def _sleeps_before(plan: Plan, group: list[Point]) -> bool:
    return bool(plan.peers.get(group[0].variant, {}).get("sleeps_after"))


def fit(
    plan: Plan,
    once_ns: dict[str, float],
    costs: list[StartCost],
    usual_ns: dict[str, float] | None = None,
) -> tuple[Numbers, float, dict[str, str]]:
    """`calibrate` for the starts that the budget holds; the others' points with the reason.

    Where the least number of blocks does not fit, the costliest start is left out, then the next:
    first those behind no figure, then those behind no claim, then claims, none that are cheap.
    Half of the starts stay where they take up to BORNE times the budget. What is measured in any
    case, however long it takes, is one claim with the twins that decide it, or one start.
    """
    usual_ns = usual_ns or once_ns
    budget_ns = plan.settings.budget_s * 1e9
    kept = list(costs)
    shed: dict[str, str] = {}
    while True:
        times = {name: once_ns[name] for cost in kept for name in cost.points if name in once_ns}
        beside_ns = sum(cost.overhead_ns for cost in kept)
        numbers, block_ns = calibrate(plan, times, beside_ns, usual_ns)
        over = block_ns * plan.rounds / budget_ns
        few = len(kept) - 1 < KEPT_SHARE * len(costs)
        prices = {id(cost): cost.of(plan, usual_ns, numbers) for cost in kept}
        cheap_ns = CHEAP * sum(prices.values()) / max(len(kept), 1)
        free = [cost for cost in _not_needed(plan, kept) if prices[id(cost)] > cheap_ns]
        if over <= 1 or not free or (few and over <= BORNE):
            return numbers, block_ns, shed

        worst = _least_missed(plan, free, kept, prices)
        kept.remove(worst)
        seconds = prices[id(worst)] / 1e9
        reason = (
            f"{plan.rounds} rounds of all that is planned, {block_ns * plan.rounds / 1e9:.0f} s, "
            f"do not fit the budget of {plan.settings.budget_s:.0f} s. This takes {seconds:.1f} s "
            f"of each. Raise {plan.budget_key} in config/local.yaml"
        )
        shed |= dict.fromkeys((name for name in worst.points if name in once_ns), reason)


def _claims_of(plan: Plan, kept: list[StartCost]) -> list[set[str]]:
    """The points of each claim whose starts are all kept."""
    claims: dict[str, set[str]] = {}
    for pair in plan.pairs:
        paper, figure, claim, *_ = pair["comparison"].split("/")
        points = claims.setdefault(f"{paper}/{figure}/{claim}", set())
        points |= {pair["numerator"], pair["denominator"]}
    measured = {name for cost in kept for name in cost.points}
    return [points for points in claims.values() if points <= measured]


def _not_needed(plan: Plan, kept: list[StartCost]) -> list[StartCost]:
    """The starts without which there still is an answer: a claim with its twins, or one start."""
    claims = _claims_of(plan, kept)
    if not claims:
        return kept if len(kept) > 1 else []
    needed = {
        name for point in plan.points if point.twin for name in (point.id, point.untwinned.id)
    }
    if len(claims) == 1:
        needed |= claims[0]
    return [cost for cost in kept if needed.isdisjoint(cost.points)]


def _least_missed(
    plan: Plan, free: list[StartCost], kept: list[StartCost], prices: dict[int, float]
) -> StartCost:
    """The costliest of those starts that are behind least: no figure, else no claim."""
    claimed = set().union(*_claims_of(plan, kept))

    def rank(cost: StartCost) -> tuple[bool, bool, float]:
        names = set(cost.points)
        return names.isdisjoint(claimed), names.isdisjoint(plan.shown), prices[id(cost)]

    return max(free, key=rank)


def expected(plan: Plan) -> tuple[Numbers, float, dict[str, str]]:
    """`fit` before anything ran: from declared sizes and assumed speeds."""
    once_ns: dict[str, float] = {}
    costs = []
    for group in grouped(plan.points, plan.starts, plan.peers):
        speed = ASSUMED_BYTES_PER_NS * max(int(point.factors.get("threads", 1)) for point in group)
        once_ns |= {
            point.id: max(int(point.factors.get("bytes", 0)) / speed, ASSUMED_CALL_NS)
            for point in group
        }
        touched = max(memory_needed(point, plan.buffers) for point in group)
        costs.append(StartCost([point.id for point in group], ASSUMED_START_NS + touched / speed))
    return fit(plan, once_ns, costs)


def calibrate(
    plan: Plan,
    once_ns: dict[str, float],
    overhead_ns: float,
    usual_ns: dict[str, float] | None = None,
) -> tuple[Numbers, float]:
    """Loops and samples of each point, and the time of a block in ns.

    `once_ns`: least time of one call of the method, so that no sample is too short; `usual_ns`:
    what it usually takes, where that is known to be more; `overhead_ns`: of a block, beside its
    samples.
    Samples shrink evenly until ROUNDS_WANTED fit, or as many as the run may have, down to
    samples_least, but for points that take next to nothing of it; in preset paper those behind its
    figures keep the paper's own N.
    """
    settings = plan.settings
    own = set(plan.shown) if settings.preset == PAPER else set()
    # Idle time between samples, which is no part of them, passes all the same.
    idle_ns = {point.id: point.factors.get("gap_ns", 0) for point in plan.points}

    def least(name: str) -> int:
        return max(settings.samples_least, plan.paper_samples if name in own else 0)

    numbers: Numbers = {}
    sample_ns: dict[str, float] = {}
    for name, once in once_ns.items():
        loops = max(1, math.ceil(settings.sample_least_ns / once))
        if name in plan.unlooped:
            loops = 1
        usual = (usual_ns or once_ns)[name]
        sample_ns[name] = usual * loops + idle_ns.get(name, 0)
        samples = round(settings.point_s * 1e9 / sample_ns[name])
        samples = min(max(samples, settings.samples_least), settings.samples_most)
        if plan.paper_samples * sample_ns[name] < AFFORDABLE_NS:
            samples = max(samples, plan.paper_samples)
        samples = max(samples, least(name))
        warms_itself_up = name in plan.unlooped and once > OWN_WARM_UP_NS
        warm_up = 0 if warms_itself_up else settings.warmup
        numbers[name] = {"loops": loops, "samples": samples, "warmup": warm_up}

    def block_ns() -> float:
        return overhead_ns + sum(
            sample_ns[name] * repetitions(plan, name, count) for name, count in numbers.items()
        )

    wanted = max(plan.rounds, min(ROUNDS_WANTED, plan.looks[-1] // plan.blocks_per_cycle))
    allowed_ns = BUDGET_USED * settings.budget_s * 1e9 / wanted
    little_ns = CHEAP * allowed_ns / max(len(numbers), 1)
    while block_ns() > allowed_ns:
        before = block_ns()
        for name, count in numbers.items():
            if sample_ns[name] * count["samples"] > little_ns:
                count["samples"] = max(least(name), math.floor(count["samples"] * 0.9))
        if block_ns() == before:
            break
    return numbers, block_ns()

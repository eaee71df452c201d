"""Rounds of runs: each program once in random order, or in turns, until the answer is decided or
the time is spent."""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from benchbook.ab.answer import Answer, Compared, compared
from benchbook.ab.looks import ROUNDS_MOST, looks_in, until_decided
from benchbook.ab.programs import ARMS, Case
from benchbook.ab.runs import Place, Run, on_time, run_in_turns, run_whole
from benchbook.core.processes import Scheduling
from benchbook.host import facts, memory, topology

# Programs that compute for so long take turns; shorter ones are over before the machine changes.
TURNS_FROM_NS = 100_000_000
COMPUTES = 0.9  # of the time in which it could run
ON_ONE_CPU = 1.1
PILOT_RUNS = 2


@dataclass(frozen=True)
class Limits:
    """How long all may take, how long one run may, up to which difference two commands are called
    equal (as a share), and the CPUs; None: one where the commands compute on one, else all."""

    budget_s: float = 20.0
    run_s: float = 600.0
    equal: float = 0.01
    cpus: list[int] | None = None


@dataclass
class Measured:
    """All runs of a case by round and arm, how they were run, and what the machine did."""

    case: Case
    limits: Limits
    place: Place
    in_turns: bool
    without_delays: bool  # costs leave out the time in which another program had the CPU
    repeats: int  # runs of each arm in a round
    looks: int
    pilot: dict[str, list[Run]]
    rounds: list[dict[str, list[Run]]] = field(default_factory=list)
    seconds: float = 0.0
    steal: float | None = None  # the share of the time of these CPUs that the hypervisor took
    compared: Compared | None = None

    @property
    def outcome(self) -> Compared:
        """The answer, once all is measured."""
        assert self.compared is not None
        return self.compared

    def logs(self) -> list[tuple[float, float, float]]:
        """Logs of the median cost of each round: a, a again, b."""
        rows = []
        for runs in self.rounds:
            first, again, second = (
                math.log(statistics.median(map(self.cost, runs[arm]))) for arm in ARMS
            )
            rows.append((first, again, second))
        return rows

    def cost(self, run: Run) -> float:
        """What is compared of a run."""
        return run.cost - (run.delay_ns if self.without_delays else 0)

    def runs_of(self, arm: str) -> list[Run]:
        """All runs of an arm, the first first."""
        return [run for runs in self.rounds for run in runs[arm]]


def measure(
    case: Case,
    limits: Limits,
    dice: random.Random,
    begun: Callable[[Measured], None] = lambda measured: None,
) -> Measured:
    """Compare the programs of a case; `begun` is called once it is known how.

    BenchbookError where one of them fails.
    """
    for program in case.arms.values():
        program.check()
    began = time.monotonic()
    measured = _planned(case, limits, dice)
    begun(measured)
    before, started = facts.steal_ticks_of(measured.place.cpus), time.monotonic()
    with on_time():
        _fill(measured, dice, began)
    measured.seconds = time.monotonic() - began
    after = facts.steal_ticks_of(measured.place.cpus)
    if before is not None and after is not None:
        stolen_s = (after - before) / os.sysconf("SC_CLK_TCK")
        measured.steal = stolen_s / (time.monotonic() - started) / len(measured.place.cpus)
    return measured


def _planned(case: Case, limits: Limits, dice: random.Random) -> Measured:
    """How the case is measured, from a few runs of each program."""
    place = Place(limits.cpus or sorted(os.sched_getaffinity(0)), limits.run_s)
    with on_time():
        pilot = {
            arm: [run_whole(case.arms[arm], case.metric, dice, place) for _ in range(PILOT_RUNS)]
            for arm in ("a", "b")
        }
    last = [runs[-1] for runs in pilot.values()]
    computes = all(run.cpu_share >= COMPUTES for run in last)
    is_long = all(run.wall_ns >= TURNS_FROM_NS for run in last)
    on_one = all(run.cpu_share <= ON_ONE_CPU for run in last)
    timed = case.metric is None
    if on_one and limits.cpus is None:
        place = replace(place, cpus=topology.pin_order(topology.read_topology())[:1])
    if computes and on_one and len(os.sched_getaffinity(0)) > 1:
        place = replace(place, scheduling=Scheduling.REAL_TIME)
    round_s = sum(run.wall_ns for run in [last[0], *last]) / 1e9
    rounds = limits.budget_s / round_s
    return Measured(
        case=case,
        limits=limits,
        place=place,
        in_turns=computes and is_long and timed and _fit_in_memory([last[0], *last]),
        without_delays=on_one and timed,
        repeats=max(1, round(rounds / ROUNDS_MOST)),
        looks=looks_in(min(rounds, ROUNDS_MOST)),
        pilot=pilot,
    )


def _fit_in_memory(runs: list[Run]) -> bool:
    available = memory.memory_available_bytes().bytes
    return available is None or sum(run.peak_bytes for run in runs) < available / 2


def _fill(measured: Measured, dice: random.Random, began: float) -> None:
    """Measure rounds until the answer is decided or the time is spent."""
    limits = measured.limits
    budget_s = max(limits.budget_s - (time.monotonic() - began), limits.budget_s / 2)

    def measure_round() -> int:
        measured.rounds.append(_round(measured, dice))
        return len(measured.rounds)

    def is_decided() -> bool:
        measured.compared = compared(measured.logs(), measured.looks, limits.equal)
        return measured.compared.answer != Answer.CANNOT_TELL

    until_decided(measure_round, is_decided, measured.looks, budget_s)


def _round(measured: Measured, dice: random.Random) -> dict[str, list[Run]]:
    """Each program `repeats` times: in turns, or one whole run after another in random order."""
    case = measured.case
    runs: dict[str, list[Run]] = {arm: [] for arm in ARMS}
    for _ in range(measured.repeats):
        if measured.in_turns:
            done = run_in_turns(list(case.arms.values()), dice, measured.place)
            for arm, run in zip(ARMS, done, strict=True):
                runs[arm].append(run)
        else:
            for arm in dice.sample(ARMS, len(ARMS)):
                runs[arm].append(run_whole(case.arms[arm], case.metric, dice, measured.place))
    return runs

"""Two builds of a program at the same points: both started now, in random order or in turns, and
the first of them a second time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook import network, stats
from benchbook.ab.answer import LEAST_ROUNDS, Compared, compared
from benchbook.ab.looks import ROUNDS_MOST, looks_in, until_decided
from benchbook.ab.runs import TURN_S
from benchbook.define.models import Settings
from benchbook.define.points import Point
from benchbook.history.confirmation import Confirmation, Outcome, outcome_of
from benchbook.history.steps import Step
from benchbook.host.topology import pin, read_topology
from benchbook.measure.invocation import PointResult
from benchbook.measure.starter import Numbers, Starter, first_unfinished
from benchbook.plan.plan import Plan
from benchbook.plan.programs import Programs
from benchbook.records import journal

ARMS = ("before", "again", "after")
EQUAL = 0.01  # up to which `compared` calls programs equal; that word is not used here
RESERVE = 1.2  # of the time that the fewest rounds take, because rounds differ
BORNE = 2.0  # times what a start may take: more is not begun
TRIALS = 2  # the second with fewer samples, where the first took too long

Row = tuple[float, float, float]  # logs of a round's times, by arm


class StartFailedError(Exception):
    """Points that could not be measured: `reasons` by name."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__("; ".join(reasons.values()))
        self.reasons = reasons


@dataclass
class PairedStart:
    """Points that one start of a program measures. `plan` is plan.json of the later run (`run`),
    `binaries` by arm, `points` and `steps` by the point's id."""

    root: Path
    content: dict[str, Any]  # the experiment's definition
    run: Path
    plan: dict[str, Any]
    binaries: dict[str, Path]
    points: dict[str, Point]
    steps: dict[str, Step]

    def confirmations(self, budget_s: float, lock: int) -> dict[str, Confirmation]:
        """A confirmation for each point, after so many seconds or as soon as all are decided.

        A point that cannot be measured is left out, and the others are measured without it.
        """
        results: dict[str, Confirmation] = {}
        names = list(self.points)
        until = time.monotonic() + budget_s
        while names:
            left_s = until - time.monotonic()
            if left_s <= 0:  # what failed took it
                return results | dict.fromkeys(names, Confirmation(Outcome.NO_TIME))
            try:
                return results | self._measured(names, left_s, lock)
            except StartFailedError as failure:
                for name, reason in failure.reasons.items():
                    results[name] = Confirmation(Outcome.CANNOT_RUN, about={"reason": reason})
                names = [name for name in names if name not in failure.reasons]
        return results

    def _measured(self, names: list[str], budget_s: float, lock: int) -> dict[str, Confirmation]:
        points = {arm: [replace(self.points[name], twin=arm) for name in names] for arm in ARMS}
        plan = self._plan([point for own in points.values() for point in own])
        factors = [self.points[name].factors for name in names]
        with network.made(factors, plan.settings.udp_peer) as joined:
            starter = Starter(
                plan,
                self.run,
                plan.starts,
                lambda point: self.binaries[point.twin],
                lock,
                network=joined if self.content.get("network") else None,
            )
            rounds = Rounds(starter, names, points, self._numbers(names))
            return self._decided(rounds, budget_s)

    def _decided(self, rounds: Rounds, budget_s: float) -> dict[str, Confirmation]:
        round_s = rounds.try_out(budget_s)
        least_s = LEAST_ROUNDS[1] * round_s
        if least_s > BORNE * budget_s:
            too_long = Confirmation(Outcome.TOO_LONG, about={"seconds": least_s})
            return dict.fromkeys(rounds.names, too_long)
        looks = looks_in(min(budget_s / round_s, ROUNDS_MOST))
        results: dict[str, Compared] = {}

        def is_decided() -> bool:
            results.update(rounds.compared(looks))
            return all(
                outcome_of(self.steps[name], result.factor) != Outcome.UNDECIDED
                for name, result in results.items()
            )

        until_decided(rounds.measure, is_decided, looks, min(budget_s, ROUNDS_MOST * round_s))
        return {
            name: Confirmation(
                outcome_of(self.steps[name], result.factor),
                result.factor,
                result.null,
                result.rounds,
            )
            for name, result in results.items()
        }

    def _numbers(self, names: Sequence[str]) -> Numbers:
        """Loops, samples and warm-ups as in the later run, for each arm."""
        pilot = journal.progress(self.run).pilot or {"points": {}}
        return {
            replace(self.points[name], twin=arm).id: dict(pilot["points"][name])
            for name in names
            for arm in ARMS
        }

    def _plan(self, points: list[Point]) -> Plan:
        """The plan of the later run for these points alone, with as many CPUs as it had."""
        topology = read_topology()
        return Plan(
            experiment=self.plan["experiment"],
            host=self.plan["host"],
            points=points,
            wanted=points,
            starts=self.content["starts"],
            skipped=[],
            programs=Programs(),
            sizes=self.plan["sizes"],
            cpus=pin(topology, min(len(self.plan["cpus"]), len(topology.cpus))),
            claims=len(self.points),
            least=LEAST_ROUNDS[1],
            looks=[LEAST_ROUNDS[1]],
            settings=settings_of_run(self.plan, self.content),
            paper_samples=self.plan["paper_samples"],
            buffers=self.plan["buffers"],
            environments=self.plan.get("environments", {}),
            options=self.plan.get("options", {}),
            real_time=self.content.get("real_time", True),
            all_cpus=self.plan.get("all_cpus", False),
            alone=self.content.get("alone", []),
            parts=self.plan.get("parts", []),
        )


def settings_of_run(plan: dict[str, Any], content: dict[str, Any]) -> Settings:
    """The settings of a plan.json, as they were. Where it is older than turns and priorities, those
    of the definition. Nothing is checked: an experiment's own may be beyond what config/ allows."""
    newer = {
        "before_others": True,
        "turns": content.get("settings", {}).get("turns", 1),
        "udp_peer": None,
    }
    return Settings.model_construct(None, **(newer | plan["settings"]))


@dataclass
class Rounds:
    """Rounds of three starts, one for each arm; `points` by arm, in the order of `names`."""

    starter: Starter
    names: list[str]
    points: dict[str, list[Point]]
    numbers: Numbers

    def __post_init__(self) -> None:
        self.dice = random.Random()
        self.rows: dict[str, list[Row]] = {name: [] for name in self.names}
        self.name_of = {
            point.id: name
            for own in self.points.values()
            for point, name in zip(own, self.names, strict=True)
        }

    # A turn is no shorter than that of `ab`, because the other programs take the caches. In 20
    # turns of 0.2 ms a copy of 8 MiB took 320 µs, as a whole 150; 12 % more work showed as 2 %.

    def try_out(self, budget_s: float) -> float:
        """How many seconds a round takes, with samples so few that the fewest rounds fit into the
        budget, as far as samples allow. Decides in how many turns the points are measured."""
        turns, self.turns = self.turns, 1
        for _ in range(TRIALS):
            began = time.monotonic()
            times_ns = self._times_ns()
            round_s = time.monotonic() - began
            part = budget_s / (RESERVE * LEAST_ROUNDS[1] * round_s)
            if part >= 1:
                break
            least = self.starter.plan.settings.samples_least
            for counts in self.numbers.values():
                counts["samples"] = max(math.floor(part * counts["samples"]), least)
        self.turns = max(1, min(turns, math.floor(self._shortest_s(times_ns) / TURN_S)))
        return round_s

    @property
    def turns(self) -> int:
        """In how many parts each point is measured, in turns with the other arms."""
        return self.starter.plan.settings.turns

    @turns.setter
    def turns(self, turns: int) -> None:
        plan = self.starter.plan
        plan.settings = plan.settings.having(turns=turns)

    def _shortest_s(self, times_ns: dict[str, dict[str, float]]) -> float:
        """How long the samples of the shortest point take in a start."""
        return min(
            times_ns[arm][name] * counts["samples"] * counts["loops"] / 1e9
            for arm, own in self.points.items()
            for point, name in zip(own, self.names, strict=True)
            for counts in (self.numbers[point.id],)
        )

    def measure(self) -> int:
        """Measure a round; the number of rounds by now."""
        times_ns = self._times_ns()
        for name in self.names:
            first, again, second = (math.log(times_ns[arm][name]) for arm in ARMS)
            self.rows[name].append((first, again, second))
        return len(self.rows[self.names[0]])

    def compared(self, looks: int) -> dict[str, Compared]:
        """Each point after against before, at one of so many looks."""
        return {name: compared(rows, looks, EQUAL) for name, rows in self.rows.items()}

    def _times_ns(self) -> dict[str, dict[str, float]]:
        """The median time of each arm and point. StartFailedError: points that have none."""
        groups = [list(own) for own in self.dice.sample(list(self.points.values()), len(ARMS))]
        for group in groups:
            self.dice.shuffle(group)
        starts = self.starter.start_compared(groups, self.numbers, self.dice)
        times_ns: dict[str, dict[str, float]] = {arm: {} for arm in ARMS}
        reasons: dict[str, str] = {}
        for group, (_, result) in zip(groups, starts, strict=True):
            dead = first_unfinished(result)
            for position, (point, outcome) in enumerate(zip(group, result.points, strict=True)):
                name = self.name_of[point.id]
                if outcome.state == "ok":
                    times_ns[point.twin][name] = _usual_ns(outcome)
                elif outcome.time_ns or dead in (position, None):  # others were not reached
                    reasons[name] = outcome.reason
        if reasons:
            raise StartFailedError(reasons)
        return times_ns


def _usual_ns(outcome: PointResult) -> float:
    process = outcome.process or [0] * len(outcome.time_ns)
    return stats.median_of_processes(outcome.time_ns, process, outcome.warm_up) / outcome.loops

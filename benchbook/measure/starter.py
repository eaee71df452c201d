"""Start a group of points in one invocation: random layout in, journal lines out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from benchbook.core.processes import Scheduling
from benchbook.define.points import BOTH_ENDS, Point, cpus_needed, grouped, memory_needed, workers
from benchbook.host import memory
from benchbook.measure.child_process import Started
from benchbook.measure.invocation import (
    PointResult,
    Request,
    Result,
    invoke,
    invoke_in_turns,
    now_ns,
    start_ahead,
)
from benchbook.network import LAID, Door, Network
from benchbook.peers.start import prepare
from benchbook.plan.plan import Plan
from benchbook.records import journal

OFFSETS = range(0, 4096, 64)  # whole cache lines within a page
PADDINGS = range(0, 4096, 16)

Numbers = dict[str, dict[str, int]]


@dataclass
class Starter:
    """Knows the binaries and what goes on a command line."""

    plan: Plan
    folder: Path
    starts: list[str]
    binary_of: Callable[[Point], Path]
    lock: int | None
    peers: dict[str, dict[str, Any]] = field(default_factory=dict)
    network: Network | None = None  # that the points are measured over
    # Peers that sleep before they measure, started for their next turn: point -> its request.
    ahead: dict[str, tuple[Request, Started]] = field(default_factory=dict)
    # Points that hung at real-time priority, so that something in them must wait for its turn.
    waiting: set[str] = field(default_factory=set)

    @cached_property
    def began_ns(self) -> int:
        """When the run began, for what changes with its time: at its first start, because what is
        read of the machine before takes seconds beside other work."""
        return now_ns()

    def groups(self, points: list[Point]) -> list[list[Point]]:
        """Points that share a start of the program, in the order of the plan. Those that take turns
        have starts of their own, so that nothing else runs between two of their turns; they share
        one also where they work on parts of the same memory."""
        takers = [point for point in points if self._takes_turns(point)]
        others = [point for point in points if not self._takes_turns(point)]
        return [
            *grouped(takers, self.starts, self.peers, self.plan.parts),
            *grouped(others, self.starts, self.peers),
        ]

    def _takes_turns(self, point: Point) -> bool:
        return point.id in self.plan.takers

    def _companions(self, group: list[Point], groups: list[list[Point]]) -> list[Point]:
        """The points that run in turns with those that twins repeat, so that they run with the
        twins too: a part may be faster for what ran before it. They are measured and not kept."""
        twin = group[0].twin
        own = {point.untwinned.id for point in group}
        repeated = [points for points in groups if own & {point.id for point in points}]
        if not twin or not repeated or not self._takes_turns(group[0]):
            return []
        return [replace(point, twin=twin) for point in repeated[0] if point.id not in own]

    def turns_of(self, groups: list[list[Point]], numbers: Numbers) -> int:
        """In how many turns the points of these groups are measured: in as many parts each, so that
        none is left alone in the last turns."""
        takers = [point for group in groups for point in group if self._takes_turns(point)]
        samples = [numbers[point.id]["samples"] for point in takers]
        return min([self.plan.settings.turns, *samples]) if takers else 1

    def request(
        self,
        group: list[Point],
        numbers: Numbers,
        dice: random.Random,
        turns: int = 1,
        companions: Sequence[Point] = (),
        *,
        pauses: bool = False,
    ) -> Request:
        """One invocation of these points, with random environment padding and buffer offsets."""
        everyone = [*group, *companions]
        first = group[0].factors | {
            name: max(point.factors[name] for point in everyone)
            for name in self.plan.parts
            if name in group[0].factors
        }
        layout = self._layout(group[0].variant)
        spec = self.peers.get(group[0].variant)
        laid = LAID if self.network else ()
        door = self.network.door(first) if self.network else Door({})
        return Request(
            binary=self.binary_of(group[0]),
            options={
                name: first[name] for name in self.starts if name in first and name not in laid
            }
            | self.plan.options
            | ({"began-ns": self.began_ns} if self.plan.serial else {}),
            points=[
                self._point(point, first, numbers.get(point.id) or numbers[point.untwinned.id])
                for point in everyone
            ],
            cpus=self._cpus(group),
            environment_padding_bytes=dice.choice(PADDINGS),
            source_offset_bytes=layout.get("source_offset_bytes", self._offset(dice)),
            destination_offset_bytes=layout.get("destination_offset_bytes", self._offset(dice)),
            seed=dice.randrange(1, 2**31),
            time_limit_s=self.plan.settings.time_limit_s,
            lock=self.lock,
            environment=self.plan.environments.get(group[0].variant, {}),
            peer=None
            if spec is None
            else prepare(spec, first, numbers[group[0].id], door.options.get("far-address", "")),
            door=door,
            scheduling=self._scheduling(group),
            turns=turns if spec is None and first.get("processes", 1) == 1 else 1,
            pauses=pauses,
            cold_turns=turns > 1
            and all(self.plan.begins_turns_cold(point.untwinned.id) for point in everyone),
        )

    def _scheduling(self, group: list[Point]) -> Scheduling:
        """Before all other work, where nothing has to wait for a program that then gets no CPU:
        a launcher, a device's driver, the other end of a network, one of too many processes."""
        if self.plan.scheduling != Scheduling.REAL_TIME:
            return self.plan.scheduling
        few = self.network is not None and len(self.plan.cpus) < BOTH_ENDS
        crowded = max(workers(point.factors) for point in group) > len(self.plan.cpus)
        # Threads of somebody else's program may wait for each other on one CPU before they part.
        foreign = group[0].variant in self.peers
        waits = any(point.id in self.waiting for point in group)
        alone = self.plan.real_time and not (few or crowded or foreign or waits)
        return Scheduling.REAL_TIME if alone else Scheduling.NICE

    def _offset(self, dice: random.Random) -> int:
        """Of a buffer; what has none, such as a network, takes no offset."""
        return dice.choice(OFFSETS) if self.plan.buffers else 0

    def _cpus(self, group: list[Point]) -> list[int]:
        cpus = self.plan.cpus
        needed = max(cpus_needed(point, len(cpus)) for point in group)
        return cpus if self.plan.all_cpus else cpus[:needed]

    def _layout(self, variant: str) -> dict[str, int]:
        """Where the buffers of a peer's twin lie: as the peer's, which cannot be moved."""
        layouts = [peer.get("layout") for peer in self.peers.values() if peer["twin"] == variant]
        return next((layout for layout in layouts if layout), {})

    def _point(self, point: Point, start: dict[str, Any], counts: dict[str, int]) -> dict[str, Any]:
        """Its factors that its start has not, or has of another size."""
        own = {
            key: value
            for key, value in point.factors.items()
            if key not in self.starts or value != start[key]
        }
        return {**own, **counts}

    def start(
        self,
        group: list[Point],
        numbers: Numbers,
        dice: random.Random,
        turns: int = 1,
        companions: Sequence[Point] = (),
    ) -> tuple[Request, Result]:
        """Invoke the group. A peer that sleeps before it measures is started for its next turn at
        once, and sleeps while others are measured."""
        name = group[0].id
        if name in self.ahead:
            request, waiting = self.ahead.pop(name)
            result = invoke(request, waiting)
        else:
            request = self.request(group, numbers, dice, turns, companions)
            result = _of_group(group, invoke(request))
        if _has_hung(request, result):
            self.waiting |= {point.id for point in group}
            return self.start(group, numbers, dice, turns, companions)
        if request.peer and request.peer.sleeps_after and result.points[0].state == "ok":
            self.start_ahead(group, numbers, dice)
        return request, result

    def start_ahead(self, group: list[Point], numbers: Numbers, dice: random.Random) -> None:
        """Start a peer that sleeps before it measures, for its next turn."""
        following = self.request(group, numbers, dice)
        if process := start_ahead(following):
            self.ahead[group[0].id] = following, process

    def try_out(
        self, group: list[Point], numbers: Numbers, dice: random.Random
    ) -> tuple[Request, Result]:
        """Invoke a group alone, with the turns that it has in a block; without companions, of which
        it is not known yet whether they run."""
        return self.start(group, numbers, dice, self.turns_of([group], numbers))

    def start_compared(
        self, groups: list[list[Point]], numbers: Numbers, dice: random.Random
    ) -> list[tuple[Request, Result]]:
        """Invoke groups that belong together. Where their points are compared and can be alive at
        once they take turns with each other; the others are started one after the other."""
        turns = self.turns_of(groups, numbers)
        companions = {group[0].id: self._companions(group, groups) for group in groups}
        # A launcher is not stopped with what it launched.
        together = self._alive_at_once(groups) if turns > 1 and self.plan.real_time else []
        invoked: dict[str, tuple[Request, Result]] = {}
        if len(together) > 1:
            requests = [
                self.request(group, numbers, dice, turns, companions[group[0].id], pauses=True)
                for group in together
            ]
            results = [
                _of_group(group, result)
                for group, result in zip(together, invoke_in_turns(requests, dice), strict=True)
            ]
            pairs = list(zip(together, zip(requests, results, strict=True), strict=True))
            hung = [group for group, (request, result) in pairs if _has_hung(request, result)]
            if hung:
                self.waiting |= {point.id for group in hung for point in group}
                return self.start_compared(groups, numbers, dice)
            invoked = {group[0].id: pair for group, pair in pairs}
        return [
            invoked.get(group[0].id)
            or self.start(group, numbers, dice, turns, companions[group[0].id])
            for group in groups
        ]

    def _alive_at_once(self, groups: list[list[Point]]) -> list[list[Point]]:
        """Those groups of ours that can wait for each other; none where the memory does not hold
        all of them, since a ratio of two that sometimes alternate would have two values."""
        together = [
            group
            for group in groups
            if group[0].variant not in self.peers
            and group[0].factors.get("processes", 1) == 1
            and not group[0].has_one_of(self.plan.alone)
        ]
        needed = sum(
            max(memory_needed(point, self.plan.buffers) for point in group) for group in together
        )
        return together if needed <= self._memory_bytes else []

    @cached_property
    def _memory_bytes(self) -> float:
        """What programs that are alive at once may hold together; the same in all blocks."""
        available_bytes = memory.memory_available_bytes().bytes
        if available_bytes is None:  # nothing is refused for it either
            return math.inf
        return self.plan.settings.memory_fraction * available_bytes

    def close(self) -> None:
        """End the peers that wait for a turn that does not come."""
        for _, process in self.ahead.values():
            process.end()
        self.ahead.clear()

    def lines(
        self, block: int, index: int, group: list[Point], request: Request, result: Result
    ) -> list[dict[str, Any]]:
        """The journal's lines: one per point; samples in ns, many of them in a file beside it."""
        fixed = result.start.get("layout") == "fixed" or request.peer is not None
        conditions = {
            "cpus": request.cpus,
            "environment_padding_bytes": request.environment_padding_bytes,
            # Static arrays stand where the linker put them, whatever was asked for, and a peer's
            # where it likes.
            "source_offset_bytes": None if fixed else request.source_offset_bytes,
            "destination_offset_bytes": None if fixed else request.destination_offset_bytes,
            **{
                f"{side}_address_mod_4096": result.start.get(f"{side}_address_mod_4096")
                for side in ("source", "destination")
            },
            "seed": request.seed,
            "steal_fraction": result.steal_fraction,
            "frequency_khz": result.frequency_khz,
            "scheduling": result.scheduling,
            "turns": request.turns,
            "pauses": request.pauses,
            "cold_turns": request.cold_turns,
            "clock_resolution_ns": result.start.get("clock_resolution_ns"),
            "clock_cost_ns": result.start.get("clock_cost_ns"),
        }
        dead = first_unfinished(result)
        return [
            {
                "kind": "invocation",
                "block": block,
                "invocation": index,
                "point": point.id,
                **_state(outcome, position, dead),
                "warm_up": outcome.warm_up,
                "loops": outcome.loops,
                "bytes_declared": outcome.bytes_declared,
                **journal.store_samples(
                    self.folder, outcome.t_start_ns, outcome.time_ns, outcome.process
                ),
                "observations": outcome.observations,
                "usage": outcome.usage,
                "conditions": conditions,
                "t_invocation_ns": result.t_start_ns,
                "t_end_ns": result.t_end_ns,
                "wall_ns": result.wall_ns,
                "share_ns": result.wall_ns // len(group),
            }
            for position, (point, outcome) in enumerate(zip(group, result.points, strict=True))
        ]


def _of_group(group: list[Point], result: Result) -> Result:
    """The result without companions, which come last."""
    return replace(result, points=result.points[: len(group)])


def _has_hung(request: Request, result: Result) -> bool:
    """Whether it may have waited for what never runs beside a program at real-time priority."""
    hung = any(point.state == "timeout" for point in result.points)
    return hung and request.scheduling == Scheduling.REAL_TIME


def _state(outcome: PointResult, position: int, dead: int | None) -> dict[str, str]:
    """The points beside the one that a program died in are not to blame for it."""
    if dead is not None and position != dead and not outcome.time_ns:
        return {"state": "not_reached", "reason": ""}
    return {"state": outcome.state, "reason": outcome.reason}


def first_unfinished(result: Result) -> int | None:
    """The point that a program died in: the one whose turn it was, or, as points are printed when
    they finish, in order, the first that was not."""
    unfinished = [
        index
        for index, outcome in enumerate(result.points)
        if outcome.state != "ok" and not outcome.time_ns
    ]
    if result.last_turn in unfinished:
        return result.last_turn
    if result.last_turn is not None and result.last_turn >= len(result.points):
        return None  # a companion, which is to blame in its own start
    return unfinished[0] if unfinished else None

"""Start a group of points in one invocation: random layout in, journal lines out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from benchbook.core.processes import Scheduling
from benchbook.define.points import Point, cpus_needed, grouped, memory_needed, workers
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
BOTH_ENDS = 2  # CPUs of a network: each end has its own
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

    @cached_property
    def _compared(self) -> set[str]:
        return set().union(*self.plan.comparisons)

    def groups(self, points: list[Point]) -> list[list[Point]]:
        """Points that share a start of the program, in the order of the plan. Those that take turns
        have a start of their own, so that nothing else runs between two of their parts."""
        takers = [point for point in points if self._takes_turns(point)]
        others = [point for point in points if not self._takes_turns(point)]
        return [
            *grouped(takers, self.starts, self.peers),
            *grouped(others, self.starts, self.peers),
        ]

    def _takes_turns(self, point: Point) -> bool:
        return self.plan.settings.turns > 1 and point.id in self._compared

    def _companions(self, group: list[Point], numbers: Numbers) -> list[Point]:
        """What runs in turns with the points that twins repeat, so that it runs with them too: a
        part may be faster for what ran before it. It is measured and not kept."""
        twin = group[0].twin
        if not twin or not self._takes_turns(group[0]):
            return []
        own = {point.untwinned.id for point in group}
        start = group[0].untwinned.start(self.starts)
        return [
            replace(point, twin=twin)
            for point in self.plan.points
            if not point.twin
            and point.id not in own
            and point.id in numbers
            and self._takes_turns(point)
            and point.start(self.starts) == start
        ]

    def request(
        self,
        group: list[Point],
        numbers: Numbers,
        dice: random.Random,
        turns: int = 1,
        *,
        pauses: bool = False,
    ) -> Request:
        """One invocation of these points, with random environment padding and buffer offsets."""
        first = group[0].factors
        layout = self._layout(group[0].variant)
        spec = self.peers.get(group[0].variant)
        laid = LAID if self.network else ()
        door = self.network.door(first) if self.network else Door({})
        measured = [*group, *(self._companions(group, numbers) if turns > 1 else [])]
        return Request(
            binary=self.binary_of(group[0]),
            options={
                name: first[name] for name in self.starts if name in first and name not in laid
            }
            | self.plan.options
            | ({"began-ns": self.began_ns} if self.plan.serial else {}),
            points=[
                self._point(point, numbers.get(point.id) or numbers[point.untwinned.id])
                for point in measured
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
        )

    def _scheduling(self, group: list[Point]) -> Scheduling:
        """Before all other work, where nothing has to wait for a program that then gets no CPU:
        a launcher, a device's driver, the other end of a network, one of too many processes."""
        if not self.plan.goes_before_others:
            return Scheduling.NORMAL
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

    def _point(self, point: Point, counts: dict[str, int]) -> dict[str, Any]:
        own = {key: value for key, value in point.factors.items() if key not in self.starts}
        return {**own, **counts}

    def start(
        self, group: list[Point], numbers: Numbers, dice: random.Random, turns: int = 1
    ) -> tuple[Request, Result]:
        """Invoke the group. A peer that sleeps before it measures is started for its next turn at
        once, and sleeps while others are measured."""
        name = group[0].id
        if name in self.ahead:
            request, waiting = self.ahead.pop(name)
            result = invoke(request, waiting)
        else:
            request = self.request(group, numbers, dice, turns)
            result = _of_group(group, invoke(request))
        if _has_hung(request, result):
            self.waiting |= {point.id for point in group}
            return self.start(group, numbers, dice, turns)
        if request.peer and request.peer.sleeps_after and result.points[0].state == "ok":
            following = self.request(group, numbers, dice)
            if process := start_ahead(following):
                self.ahead[name] = following, process
        return request, result

    def start_compared(
        self, groups: list[list[Point]], numbers: Numbers, dice: random.Random
    ) -> list[tuple[Request, Result]]:
        """Invoke groups that belong together. Where their points are compared they take turns, as
        many of them as can be alive at once; the others are started one after the other."""
        is_compared = any(point.id in self._compared for group in groups for point in group)
        turns = self.plan.settings.turns if is_compared else 1
        # A launcher is not stopped with what it launched.
        together = self._alive_at_once(groups) if turns > 1 and self.plan.real_time else []
        invoked: dict[str, tuple[Request, Result]] = {}
        if len(together) > 1:
            requests = [
                self.request(group, numbers, dice, turns, pauses=True) for group in together
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
            invoked.get(group[0].id) or self.start(group, numbers, dice, turns) for group in groups
        ]

    def _alive_at_once(self, groups: list[list[Point]]) -> list[list[Point]]:
        """Those groups of ours that can wait for each other, as far as the memory holds them."""
        together = []
        available_bytes = memory.memory_available_bytes().bytes or 0
        left_bytes = self.plan.settings.memory_fraction * available_bytes
        for group in groups:
            first = group[0]
            ours = first.variant not in self.peers and first.factors.get("processes", 1) == 1
            needed = max(memory_needed(point, self.plan.buffers) for point in group)
            if ours and not first.has_one_of(self.plan.alone) and needed <= left_bytes:
                left_bytes -= needed
                together.append(group)
        return together

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
    last = result.last_turn
    kept = last if last is not None and last < len(group) else None
    return replace(result, points=result.points[: len(group)], last_turn=kept)


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
    return unfinished[0] if unfinished else None

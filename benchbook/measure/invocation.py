"""One start of a measured program: what goes in, what comes out, and what disturbed it."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchbook.core import scratch
from benchbook.core.processes import Scheduling
from benchbook.host import facts
from benchbook.measure.child_process import (
    OUTPUT_MOST_BYTES,
    TOO_MUCH,
    TURN,
    Started,
    inherited,
    started,
)
from benchbook.network import Door
from benchbook.network.serving import NotServingError, serving
from benchbook.peers.parsers import NotUnderstoodError
from benchbook.peers.start import PeerStart, read

CANNOT_RUN = 77
OUTPUT_KEPT = 400  # characters of stderr that enter a reason
# A rest after each turn at real-time priority, as a share of it. The system stops such programs for
# 50 ms of each second that they fill (sched_rt_runtime_us), which would fall into samples.
REST_SHARE = 0.08


@dataclass(frozen=True)
class Request:
    """One invocation: points in order, each with its factors and pilot numbers."""

    binary: Path
    options: dict[str, Any]  # kernel options, e.g. {"bytes": 8388608}
    points: list[dict[str, Any]]  # the KEY=VALUE pairs of each --point, in order
    cpus: list[int]
    environment_padding_bytes: int = 0
    source_offset_bytes: int = 0
    destination_offset_bytes: int = 0
    seed: int = 1
    time_limit_s: float = 30.0
    lock: int | None = None  # file descriptor of the measuring lock, inherited
    environment: dict[str, str] = field(default_factory=dict)  # the variant's own variables
    peer: PeerStart | None = None  # somebody else's program, with arguments of its own
    door: Door = field(default_factory=lambda: Door({}))  # into the network that it measures
    scheduling: Scheduling = Scheduling.NORMAL
    turns: int = 1  # parts in which each point is measured, in turns with the others
    pauses: bool = False  # before each turn, so that other programs have theirs
    cold_turns: bool = False  # no warm-up before later turns

    @property
    def turns_of_points(self) -> list[int]:
        """In how many turns each point takes part: a part has a sample at least."""
        return [min(self.turns, point["samples"]) for point in self.points]


@dataclass
class PointResult:
    """What one point of an invocation gave. state: ok, failed, cannot_run or timeout."""

    state: str
    reason: str = ""
    warm_up: int = 0
    t_start_ns: list[int] = field(default_factory=list)
    time_ns: list[int] = field(default_factory=list)
    loops: int = 1
    bytes_declared: int = 0
    observations: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    process: list[int] = field(default_factory=list)  # of each sample; empty: all of process 0

    @property
    def processes(self) -> int:
        """How many processes have samples of their own; warm_up counts those of each."""
        return max(self.process, default=0) + 1


@dataclass
class Result:
    points: list[PointResult]
    start: dict[str, Any]
    wall_ns: int
    t_start_ns: int
    t_end_ns: int
    steal_fraction: float | None
    frequency_khz: int | None
    scheduling: Scheduling | None = None  # of a start of ours
    last_turn: int | None = None  # the point whose turn came last, where points take turns


def now_ns() -> int:
    """The clock of the kernels, so that times can be laid beside their samples."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def command_line(request: Request) -> list[str]:
    """The command line of an invocation: the program and its arguments."""
    words = [str(request.binary.absolute())]
    if request.peer is not None:
        return [*words, *request.peer.arguments]
    options = {**request.options, **request.door.options}
    words += [f"--{name}={value}" for name, value in options.items()]
    for point in request.points:
        words += ["--point", ",".join(f"{key}={value}" for key, value in point.items())]
    return [
        *words,
        f"--source-offset={request.source_offset_bytes}",
        f"--destination-offset={request.destination_offset_bytes}",
        f"--seed={request.seed}",
        *([f"--turns={request.turns}"] if request.turns > 1 else []),
        *(["--pause"] if request.pauses else []),
        *(["--cold-turns"] if request.cold_turns else []),
    ]


def environment(request: Request) -> dict[str, str]:
    """All that a kernel sees: nothing of the workflow engine's (it sets OMP_NUM_THREADS)."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LC_ALL": "C",
        "OMP_NUM_THREADS": str(len(request.cpus)),
        "OMP_PROC_BIND": "true",
        "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in request.cpus),
        "BENCHBOOK_PADDING": "x" * request.environment_padding_bytes,
        **scratch.variables(),
        **request.environment,
    }


def invoke(request: Request, ahead: Started | None = None) -> Result:
    """Start the program, wait for it within its time limit, and read what it printed; `ahead`: the
    start that `start_ahead` made of it, which goes on."""
    if request.door.refused:
        return _refused(request)
    if request.peer is None:
        return invoke_in_turns([request], random.Random(request.seed))[0]
    watch = _MachineWatch(request)
    points = [_peer_point(request, request.peer, ahead)]
    return watch.result(points, {}, now_ns() - watch.t_start_ns)


def invoke_in_turns(requests: list[Request], dice: random.Random) -> list[Result]:
    """Start kernels that are alive at once, and let those that pause go on one at a time.

    Each turn of each point once, then all of the next turn, in random order, so that what is
    compared is measured within moments. The wall time of each is that in which it ran.
    """
    begun: list[_StartedKernel] = []
    try:
        for request in requests:
            begun.append(_StartedKernel(request))
        for number in _order_of_turns(requests, dice):
            begun[number].take_turn()
        return [start.end() for start in begun]
    except BaseException:
        for start in begun:
            start.process.end()
        raise


def _order_of_turns(requests: list[Request], dice: random.Random) -> list[int]:
    """Whose turn it is, by the number of the request."""
    order: list[int] = []
    for turn in range(max(request.turns for request in requests)):
        takers = [
            number
            for number, request in enumerate(requests)
            for turns in request.turns_of_points
            if request.pauses and turn < turns
        ]
        dice.shuffle(takers)
        order += takers
    return order


class _MachineWatch:
    """The machine from the start of an invocation on."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.steal_before = facts.steal_ticks_of(request.cpus)
        self.t_start_ns = now_ns()

    def result(self, points: list[PointResult], start: dict[str, Any], wall_ns: int) -> Result:
        """What became of the invocation, which ran for `wall_ns` of its time."""
        t_end_ns = now_ns()
        cpus = self.request.cpus
        steal = _steal(
            self.steal_before, facts.steal_ticks_of(cpus), t_end_ns - self.t_start_ns, self.request
        )
        return Result(
            points=points,
            start=start,
            wall_ns=wall_ns,
            t_start_ns=self.t_start_ns,
            t_end_ns=t_end_ns,
            steal_fraction=steal,
            frequency_khz=facts.frequency_khz(cpus[0]),
        )


class _StartedKernel:
    """A kernel that was started, and waits for its first turn if it pauses."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.watch = _MachineWatch(request)
        self.process = _start(request, request.cpus)
        self.ended: tuple[int | None, str, str] | None = None
        self.ran_ns = 0
        if request.pauses:
            self._go_on(self.watch.t_start_ns)

    def take_turn(self) -> None:
        """Let it go on until it waits again, or ends. One that hangs is ended, so that it does not
        run while others are measured."""
        if self.ended is None:
            began_ns = now_ns()
            self.process.go_on()
            self._go_on(began_ns)

    def _go_on(self, began_ns: int) -> None:
        if not self.process.stops_for_turn(self._left_s(now_ns() - began_ns)):
            self.ended = self.process.finish(self._left_s(now_ns() - began_ns))
        took_ns = now_ns() - began_ns
        self.ran_ns += took_ns
        if self.process.scheduling == Scheduling.REAL_TIME:
            time.sleep(REST_SHARE * took_ns / 1e9)

    def _left_s(self, more_ns: int = 0) -> float:
        return max(self.request.time_limit_s - (self.ran_ns + more_ns) / 1e9, 0.0)

    def end(self) -> Result:
        """Wait for its end within its time limit, and read what it printed."""
        began_ns = now_ns()
        if self.ended is None and self.request.pauses:  # a kernel of another number of turns
            self.process.go_on()
        status, out, err = self.ended or self.process.finish(self._left_s())
        start, finished = read_output(out, len(self.request.points))
        problem = explain_exit(status, out, err, self.request.time_limit_s)
        points = [PointResult(*problem) if point is None else point for point in finished]
        result = self.watch.result(points, start, self.ran_ns + now_ns() - began_ns)
        return replace(result, scheduling=self.process.scheduling, last_turn=_last_turn(out))


def start_ahead(request: Request) -> Started | None:
    """Start a peer that sleeps before it measures, and keep it in that sleep until it is invoked;
    None for one that does not, or not as it is described."""
    if request.peer is None or not request.peer.sleeps_after:
        return None
    process = _start(request, _near_cpus(request))
    if process.stop_in_sleep(request.peer.sleeps_after):
        return process
    process.end()
    return None


def _start(request: Request, cpus: list[int]) -> Started:
    return started(
        command_line(request),
        cpus=cpus,
        env=environment(request),
        lock=request.lock,
        door=request.door,
        scheduling=request.scheduling,
    )


def _near_cpus(request: Request) -> list[int]:
    """Each end has a CPU of its own, as ours do."""
    has_far_end = request.peer is not None and request.peer.server is not None
    return request.cpus[:1] if has_far_end else request.cpus


def _refused(request: Request) -> Result:
    """Nothing was started: none of its points can run."""
    now = now_ns()
    points = [PointResult("cannot_run", request.door.refused) for _ in request.points]
    return Result(points, {}, 0, now, now, None, None)


def run_program(
    command: list[str],
    *,
    cpus: list[int],
    env: dict[str, str],
    time_limit_s: float,
    lock: int | None,
    with_children: bool = False,
    door: Door | None = None,
    scheduling: Scheduling = Scheduling.NORMAL,
) -> tuple[int | None, str, str]:
    """(exit status or None for a time-out, stdout, stderr). Dies with this process.

    `door`: the network that it enters. `with_children`: a time-out ends what it started too, else
    that would hold its pipes open.
    BenchbookError where the program cannot even be started: that says nothing about its points.
    """
    process = started(
        command,
        cpus=cpus,
        env=env,
        lock=lock,
        with_children=with_children,
        door=door,
        scheduling=scheduling,
    )
    return process.finish(time_limit_s)


def read_output(out: str, expected: int) -> tuple[dict[str, Any], list[PointResult | None]]:
    """The start line and the points that were finished; None for those that never were."""
    start: dict[str, Any] = {}
    points: list[PointResult | None] = [None] * expected
    samples: dict[int, list[dict[str, Any]]] = {}
    for line in out.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut by a crash
        if not isinstance(record, dict) or record.get("version") != 1:
            continue
        number: Any = record.get("point")
        match record.get("kind"):
            case "start":
                start = record
            case "sample" if number in range(expected):
                samples.setdefault(number, []).append(record)
            case "point" if number in range(expected):
                points[number] = _point_or_none(record, samples.get(number, []))
    return start, points


def _point_or_none(record: dict[str, Any], samples: list[dict[str, Any]]) -> PointResult | None:
    """The point; None where the program that printed it is none of our kernels."""
    try:
        return _point(record, samples)
    except (KeyError, TypeError):
        return None


def _last_turn(out: str) -> int | None:
    """The point whose turn came last, None where they take no turns."""
    turns = re.findall(rf"^.*{TURN.decode()}.*$", out, re.MULTILINE)
    return json.loads(turns[-1])["point"] if turns else None


def _point(record: dict[str, Any], samples: list[dict[str, Any]]) -> PointResult:
    process = [sample.get("process", 0) for sample in samples]
    return PointResult(
        state="ok" if record["status"] == "ok" else "failed",
        reason=record.get("reason", ""),
        warm_up=sum(1 for sample in samples if sample["warm_up"] and not sample.get("process")),
        t_start_ns=[sample["t_start_ns"] for sample in samples],
        time_ns=[sample["time_ns"] for sample in samples],
        loops=record["loops"],
        bytes_declared=record["bytes_declared"],
        observations=record["observations"],
        usage=record["usage"],
        process=process if any(process) else [],
    )


def explain_exit(status: int | None, out: str, err: str, time_limit_s: float) -> tuple[str, str]:
    """(state, reason) for the points that a program did not finish."""
    words = " ".join(err.split())[-OUTPUT_KEPT:]
    if status is None:
        return "timeout", f"did not end within its time limit of {time_limit_s:g} s"
    if status == TOO_MUCH:
        return "failed", f"printed more than {OUTPUT_MOST_BYTES >> 20} MiB, and was ended"
    if status == CANNOT_RUN:
        for line in reversed(out.splitlines()):
            if '"reason"' in line:
                try:
                    return "cannot_run", str(json.loads(line)["reason"])
                except (ValueError, LookupError, TypeError, RecursionError):
                    break
        return "cannot_run", words or "the kernel says that it cannot run here"
    if status == 0:
        return "failed", "ended well, and did not say what it measured; remove build/ and run again"
    if status < 0:
        named = -status in {number.value for number in signal.Signals}
        name = f" ({signal.Signals(-status).name})" if named else ""
        return "failed", f"was ended by signal {-status}{name}"
    return "failed", _ended(status, err)


def _peer_point(request: Request, peer: PeerStart, ahead: Started | None) -> PointResult:
    """One start of a peer, with its server where it has one."""

    def measured() -> PointResult:
        one = ahead or _start(request, _near_cpus(request))
        if ahead:
            ahead.go_on()
        return _peer_result(request, peer, *one.finish(request.time_limit_s))

    if peer.server is None:
        return measured()
    try:
        with serving(
            [str(request.binary.absolute()), *peer.server.arguments],
            protocol=peer.server.protocol,
            port=peer.server.port,
            cpus=request.cpus[1:2] or request.cpus,
            enter=request.door.enter_far,
            inherits=inherited(request.lock, request.door),
            env=environment(request),
            scheduling=request.scheduling,
        ) as server:
            measurement = measured()
            if why := server.ended():
                raise NotServingError(why)
    except NotServingError as why:
        if ahead:
            ahead.end()
        return PointResult("failed", f"{peer.tool}: {why}")
    return measurement


def _peer_result(
    request: Request, peer: PeerStart, status: int | None, out: str, err: str
) -> PointResult:
    """What a peer measured. It does not tell when: its samples are laid end to end before its end,
    the last thing that it did. Observations and usage are absent."""
    t_end_ns = now_ns()
    if status is None or status < 0:
        return PointResult(*explain_exit(status, out, err, request.time_limit_s))
    if status > 0:
        # It may say its reason on either stream, and its 77 means nothing to us.
        return PointResult("failed", _ended(status, f"{out} {err}"))
    try:
        measured = read(peer, out, request.cpus)
    except NotUnderstoodError as why:
        return PointResult("failed", f"{peer.tool}: {why}")
    times = measured.time_ns
    return PointResult(
        state="ok",
        warm_up=peer.warmup if len(times) > peer.warmup else 0,
        t_start_ns=_laid_end_to_end(times, t_end_ns),
        time_ns=times,
        loops=measured.loops,
        bytes_declared=measured.declared_bytes,
    )


def _laid_end_to_end(times_ns: list[int], t_end_ns: int) -> list[int]:
    """When each began, the last to end at `t_end_ns`."""
    return [t_end_ns - left for left in accumulate(reversed(times_ns))][::-1]


def _ended(status: int, text: str) -> str:
    words = " ".join(text.split())[-OUTPUT_KEPT:]
    return f"exit status {status}: {words}" if words else f"exit status {status}"


def _steal(before: int | None, after: int | None, wall_ns: int, request: Request) -> float | None:
    """Of the time of the CPUs in use."""
    if before is None or after is None or wall_ns <= 0:
        return None
    tick_ns = 1e9 / os.sysconf("SC_CLK_TCK")
    return (after - before) * tick_ns / wall_ns / len(request.cpus)

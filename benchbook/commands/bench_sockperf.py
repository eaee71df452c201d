"""Our round trips against sockperf's, both alive at once and each going on only in its turns.

A machine that others share changes its pace several times in a second. Programs that run one after
the other see two machines; in turns of a few hundredths of a second they see the same one.
"""

from __future__ import annotations

import math
import os
import random
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchbook import network, stats
from benchbook.core.files import read_json
from benchbook.core.processes import child_setup, measuring_lock
from benchbook.host import tools, topology
from benchbook.network.serving import NotServingError, serving

PEER, PORT = "sockperf", 7709
BUILT = Path("build/udp/gcc-O2-sockperf")
LINE = {"path": "veth", "switches": 0}
PAYLOAD_BYTES = 1024
TURN_S = 0.04
ROUND_TRIPS = 500_000  # of ours; sockperf goes on for as long
WARM_UP = 1000
MOST_NS = 30_000  # of a usual round trip: sockperf is told beforehand how long it runs
ASLEEP_S = 3.0  # sockperf sleeps for two seconds, and leaves out 400 ms
LIMIT_S = 60.0  # until it has ended, and printed all
EDGE = 0.1  # of a turn at both of its ends: who stops and who goes on is not alone there
LEAST_TURNS, LEAST_TRIPS = 8, 50
INSIDE = 0.98  # of sockperf's round trips stand in its turns, if its clock was read rightly
MATCHED_BY = 20_000  # of its round trips tell where its clock stands
LONGEST_WAIT = 2  # turns: beside other work it had no CPU for so long when it was first stopped
_OURS = re.compile(rb'"warm_up":false,"t_start_ns":(\d+),"time_ns":(\d+)')
_THEIRS = re.compile(rb"^\d+, (\d+)\.(\d{9}), [\d.]+, (\d+)\.(\d{3})$", re.MULTILINE)


class NotComparedError(Exception):
    """Why nothing can be said here."""


class Trips(NamedTuple):
    """Round trips: starts (n,) and times (n,), in ns."""

    start_ns: np.ndarray
    time_ns: np.ndarray


class Turn(NamedTuple):
    """From going on to stopping, in ns."""

    began_ns: int
    ended_ns: int


@dataclass
class Runner:
    """A program and its far side, which stand still but in their turns."""

    near: subprocess.Popen[bytes]
    far: int
    turns: list[Turn] = field(default_factory=list)

    def take_turn(self, seconds: float) -> None:
        """Go on for so long."""
        began = _now_ns()
        self.go_on()
        time.sleep(seconds)
        self.turns.append(Turn(began, self.stop()))

    def go_on(self) -> None:
        """The far side first, else the near one would wait for it."""
        self._send(signal.SIGCONT, self.far, self.near.pid)

    def stop(self) -> int:
        """Returns the time just after, in ns: we may have had no CPU before."""
        self._send(signal.SIGSTOP, self.near.pid, self.far)
        return _now_ns()

    def is_running(self) -> bool:
        """Whether the near end has not ended."""
        return self.near.poll() is None

    def _send(self, what: signal.Signals, *pids: int) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, what)


def against_sockperf(root: Path) -> str:
    """Time of a round trip ÷ sockperf's, in turns, with its interval; or why there is none."""
    try:
        ratio = _compared(root)
    except (NotComparedError, NotServingError) as why:
        return f"not measurable here: {why}"
    low, high = math.exp(ratio.low), math.exp(ratio.high)
    return f"{math.exp(ratio.estimate):.3f} [{low:.3f}, {high:.3f}], {ratio.n} turns"


def _compared(root: Path) -> stats.Interval:
    peer = shutil.which(PEER)
    if peer is None:
        raise NotComparedError(f"{PEER} is not on PATH; {tools.remedy(tools.package_of(PEER))}")
    about = root / BUILT / "variant.json"
    if not about.exists() or read_json(about)["state"] != "ok":
        raise NotComparedError("our side is not built; run `snakemake e7udpip-latency` first")
    ours = root / BUILT / read_json(about)["binary"]["file"]
    cpus = topology.pin_order(topology.read_topology())[:2]
    if len(cpus) < 2:
        raise NotComparedError("both sides need a CPU each; use a wider cpuset")
    with measuring_lock("round trips in turns", root, print), TemporaryDirectory() as folder:
        return in_turns(ours, peer, cpus, Path(folder))


def in_turns(ours: Path, peer: str, cpus: list[int], folder: Path) -> stats.Interval:
    """Let both run, in turns and in random order, until ours is through; `folder` gets what they
    print. NotComparedError and NotServingError tell why there is nothing to compare."""
    with ExitStack() as stack:
        door = stack.enter_context(network.made([LINE], None)).door(LINE)
        if door.refused:
            raise NotComparedError(door.refused)
        far = str(door.options["far-address"])

        def start(name: str, command: list[str], cpus: list[int]) -> subprocess.Popen[bytes]:
            output = stack.enter_context((folder / name).open("wb"))
            process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus)},
                pass_fds=door.inherits,
                preexec_fn=child_setup(cpus, door.enter),  # noqa: PLW1509 - we have one thread
            )
            stack.callback(_end, process)
            return process

        server = stack.enter_context(
            serving(
                [peer, "server", "-i", far, "-p", str(PORT), "--nonblocked"],
                protocol="udp",
                port=PORT,
                cpus=cpus[1:],
                enter=door.enter_far,
                inherits=door.inherits,
            )
        )
        seconds = math.ceil(ASLEEP_S + 2 * ROUND_TRIPS * MOST_NS / 1e9)
        words = ["ping-pong", "--nonblocked", "--full-rtt", "--full-log=/dev/stdout"]
        words += [f"--time={seconds}", f"--msg-size={PAYLOAD_BYTES}", f"--ip={far}"]
        theirs = Runner(
            start("theirs", [peer, *words, f"--port={PORT}"], cpus[:1]),
            server.process.pid,
        )
        time.sleep(ASLEEP_S)
        stopped_ns = theirs.stop()
        options = [f"--{name}={value}" for name, value in door.options.items()]
        point = f"method=one-socket,payload_bytes={PAYLOAD_BYTES},gap_ns=0,loops=1"
        counts = f"samples={ROUND_TRIPS},warmup={WARM_UP}"
        near = start(
            "ours", [str(ours), *options, "--wait=spin", f"--point={point},{counts}"], cpus
        )
        own = Runner(near, _far_side(near, folder / "ours"))
        own.stop()
        both = [own, theirs]  # ours first: their pause, from then on, is long enough to be seen
        while own.is_running() and theirs.is_running():
            for side in both:
                side.take_turn(TURN_S)
            random.shuffle(both)
        for side in (own, theirs):
            side.go_on()
            if side is theirs:
                side.near.send_signal(signal.SIGINT)  # it prints what it has
            _finish(side.near, folder / ("ours" if side is own else "theirs"))
    seen = trips_of(_OURS, (folder / "ours").read_bytes())
    their = trips_of(_THEIRS, (folder / "theirs").read_bytes())
    return compared(seen, own.turns, matched(their, theirs.turns, stopped_ns), theirs.turns)


def trips_of(pattern: re.Pattern[bytes], text: bytes) -> Trips:
    """The round trips of a log: each number of its pattern's groups, the last of each in ns."""
    rows = np.array([list(map(int, row)) for row in pattern.findall(text)], dtype=np.int64)
    if len(rows) == 0:
        raise NotComparedError("there are no round trips in what was printed")
    if rows.shape[1] == 2:
        return Trips(rows[:, 0], rows[:, 1])
    return Trips(rows[:, 0] * 10**9 + rows[:, 1], rows[:, 2] * 1000 + rows[:, 3])


def matched(trips: Trips, turns: list[Turn], stopped_ns: int) -> Trips:
    """Their round trips in our time: the last one before their first pause began before it, by as
    little as sets most of the later ones into their turns. A pause may have had another reason,
    and then they do not stand there."""
    if not turns:
        raise NotComparedError(f"one of the two had ended before {PEER} had a turn")
    edges_ns = np.array(turns).ravel()
    some = trips.start_ns[:: len(trips.start_ns) // MATCHED_BY + 1]
    turn_ns = TURN_S * 1e9
    waits_ns = np.linspace(0, LONGEST_WAIT * turn_ns, 40 * LONGEST_WAIT + 1).astype(np.int64)
    for last in np.flatnonzero(np.diff(trips.start_ns) > 0.9 * turn_ns):
        slips_ns = stopped_ns - waits_ns - trips.start_ns[last]
        inside = [_share_inside(some + slip_ns, edges_ns, stopped_ns) for slip_ns in slips_ns]
        best = int(np.argmax(inside))
        if inside[best] >= INSIDE:
            return Trips(trips.start_ns + slips_ns[best], trips.time_ns)
    raise NotComparedError(f"the clock of {PEER} could not be matched; run again")


def _share_inside(start_ns: np.ndarray, edges_ns: np.ndarray, stopped_ns: int) -> float:
    """Of those after the pause began, which share is in a turn; `edges_ns`: (turns x 2,)."""
    later = start_ns[(start_ns > stopped_ns) & (start_ns <= edges_ns[-1])]
    inside = np.searchsorted(edges_ns, later) % 2
    return float(inside.mean()) if len(later) else 0.0


def compared(
    own: Trips, own_turns: list[Turn], peer: Trips, peer_turns: list[Turn]
) -> stats.Interval:
    """Log of the time ÷ the peer's, each the median of a turn."""
    ours, theirs = _medians(own, own_turns), _medians(peer, peer_turns)
    n = min(len(ours), len(theirs))
    ratios = np.log(ours[:n] / theirs[:n])
    ratios = ratios[np.isfinite(ratios)]
    if len(ratios) < LEAST_TURNS:
        raise NotComparedError(f"there were {len(ratios)} turns of both, and {LEAST_TURNS} needed")
    return stats.signed_rank_interval(ratios)


def _medians(trips: Trips, turns: list[Turn]) -> np.ndarray:
    """Of each turn's middle; nan where too few round trips are in it."""
    medians = np.full(len(turns), np.nan)
    for number, (began, ended) in enumerate(turns):
        edge = EDGE * (ended - began)
        inside = (trips.start_ns > began + edge) & (trips.start_ns < ended - edge)
        if np.count_nonzero(inside) >= LEAST_TRIPS:
            medians[number] = np.median(trips.time_ns[inside])
    return medians


def _far_side(near: subprocess.Popen[bytes], output: Path) -> int:
    """The process that our program has started for it, once both are ready."""
    until = time.monotonic() + LIMIT_S
    while not output.read_bytes().endswith(b"\n"):
        if near.poll() is not None or time.monotonic() > until:
            raise NotComparedError("our side did not begin")
        time.sleep(0.001)
    try:
        return int(Path(f"/proc/{near.pid}/task/{near.pid}/children").read_text().split()[0])
    except (OSError, IndexError):  # it has ended, or its far side has
        raise NotComparedError("our side ended before its first turn") from None


def _finish(process: subprocess.Popen[bytes], output: Path) -> None:
    """Wait for its end, which is to be a good one."""
    try:
        status = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        raise NotComparedError(f"{output.name} did not end within {LIMIT_S:g} s") from None
    if status != 0:
        words = output.read_bytes()[-300:].decode(errors="replace").split()
        raise NotComparedError(f"{output.name} ended with exit status {status}: {' '.join(words)}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _now_ns() -> int:
    """By the clock of our kernels."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

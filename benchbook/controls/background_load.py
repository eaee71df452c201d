"""Other work on the machine, started on purpose: programs that keep a core or the memory busy.

They die with who started them. `python -m benchbook.controls.background_load WHAT SEED` is one
of them.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbook.core.processes import child_setup
from benchbook.host.topology import pin, read_topology

NONE = "none"
# What runs, and whether on the core that is measured first or on another one.
LOADS: dict[str, list[tuple[str, str]]] = {
    NONE: [],
    "spinning elsewhere": [("spin", "elsewhere")],
    "at times on the same core": [("at_times", "here")],
    "memory streaming elsewhere": [("stream", "elsewhere")],
    "changing everywhere": [("change", "here"), ("change", "elsewhere")],
}
MEMORY_BYTES = 64 * 2**20  # of each of the two buffers
BURST_S, PAUSE_S = 0.05, 0.4
CHANGE_S = (0.1, 0.8)


@contextmanager
def loaded(name: str, seed: int) -> Iterator[None]:
    """Keep the machine busy as `name` says (a key of LOADS) until the block ends."""
    places = _places()
    package = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number, (what, where) in enumerate(LOADS[name]):
            running.append(
                subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "benchbook.controls.background_load",
                        what,
                        str(seed + number),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    env=package,
                    preexec_fn=child_setup([places[where]]),  # noqa: PLW1509 - no thread works now
                )
            )
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()  # it says when it begins
        yield
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _places() -> dict[str, int]:
    """The core that a measurement takes first, and another one where there is one."""
    topology = read_topology()
    here = pin(topology, 1)[0]
    others = [cpu.id for cpu in topology.cpus if cpu.id != here]
    return {"here": here, "elsewhere": others[0] if others else here}


def _spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def spin(_: random.Random) -> None:
    """Keep a CPU busy without a pause."""
    while True:
        _spin(1.0)


def at_times(dice: random.Random) -> None:
    """Keep a CPU busy in short bursts with longer pauses."""
    while True:
        _spin(dice.uniform(0, 2 * BURST_S))
        time.sleep(dice.uniform(0, 2 * PAUSE_S))


def change(dice: random.Random) -> None:
    """Keep a CPU busy and idle in turn, each for a few hundred milliseconds."""
    while True:
        _spin(dice.uniform(*CHANGE_S))
        time.sleep(dice.uniform(*CHANGE_S))


def stream(_: random.Random) -> None:
    """Copy between buffers that no cache holds."""
    source, target = bytearray(b"a" * MEMORY_BYTES), bytearray(MEMORY_BYTES)
    while True:
        target[:] = source
        source[:] = target


WORK: dict[str, Callable[[random.Random], None]] = {
    load.__name__: load for load in (spin, at_times, change, stream)
}

if __name__ == "__main__":
    print("begins", flush=True)
    WORK[sys.argv[1]](random.Random(int(sys.argv[2])))

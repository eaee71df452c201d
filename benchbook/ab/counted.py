"""Counted work: instructions, branches and cache misses of both programs under cachegrind, for
machines on which time cannot tell. Each program is counted several times with its stack elsewhere,
and what that changes is the floor of each count."""

from __future__ import annotations

import random
import shutil
import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchbook.ab.programs import ARMS, Case, Program
from benchbook.ab.runs import Place, run_whole
from benchbook.core.errors import BenchbookError
from benchbook.evidence.simulation.geometry import geometry_of
from benchbook.evidence.simulation.profile import read_profile
from benchbook.host import tools, topology

RUNS = 3  # of each arm
# Differences below these are no other work: what loading a program does depends on its layout.
LEAST_FLOOR, LOADING = 1e-4, 5000
INSTRUCTIONS = "instructions"
SUMS = {
    INSTRUCTIONS: ("Ir",),
    "branches": ("Bc", "Bi"),
    "first-level data cache misses": ("D1mr", "D1mw"),
    "last-level cache misses": ("ILmr", "DLmr", "DLmw"),
}


@dataclass(frozen=True)
class Count:
    """An event: how often in each run of an arm, b over a, and what equal programs differ by."""

    event: str
    counts: dict[str, list[int]]
    ratio: float
    floor: float

    @property
    def differs(self) -> bool:
        """Whether b does this more or less often than a, beyond the floor."""
        return abs(self.ratio - 1) > self.floor


def count(case: Case, place: Place, dice: random.Random) -> list[Count]:
    """The events of SUMS. BenchbookError without valgrind, or where a program fails under it."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise BenchbookError(
            f"valgrind, which counts, is not on PATH; {tools.remedy(tools.package_of('valgrind'))}"
        )
    geometry = geometry_of(topology.read_topology(), place.cpus[0])
    counted: dict[str, list[Counter[str]]] = {arm: [] for arm in ARMS}
    for _ in range(RUNS):
        seed = dice.random()  # the same stack for each arm: then only the programs differ
        for arm, program in case.arms.items():
            own_dice = random.Random(seed)
            counted[arm].append(_counted(program, [valgrind, *geometry.options], place, own_dice))
    return [_count(event, names, counted) for event, names in SUMS.items()]


def _counted(
    program: Program, valgrind: list[str], place: Place, dice: random.Random
) -> Counter[str]:
    """All events of a run and of what it started."""
    with TemporaryDirectory(prefix="benchbook-count-") as folder:
        words = [
            *(valgrind[0], "-q", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes"),
            *("--trace-children=yes", f"--cachegrind-out-file={folder}/%p.out", *valgrind[1:]),
            *program.command,
        ]
        under = Program(tuple(words), program.folder, program.setup, program.cleanup)
        run_whole(under, None, dice, place)
        files = list(Path(folder).glob("*.out"))
        return sum((read_profile(file).total for file in files), Counter())


def _count(event: str, names: tuple[str, ...], counted: dict[str, list[Counter[str]]]) -> Count:
    counts = {
        arm: [sum(run[name] for name in names) for run in runs] for arm, runs in counted.items()
    }
    first, second = counts["a"] + counts["again"], counts["b"]
    centre = statistics.median(first)
    if not centre:
        return Count(event, counts, 1.0 if not any(second) else float("inf"), LEAST_FLOOR)
    spread = max(max(runs) - min(runs) for runs in (first, second)) / centre
    ratio = statistics.median(second) / centre
    return Count(event, counts, ratio, max(spread, LEAST_FLOOR, LOADING / centre))

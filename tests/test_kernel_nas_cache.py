"""Why BT works faster on a smaller cube: a simulated cache holds the cube of class S, and not that
of class W. Both take as many instructions per operation."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

import kernels
from benchbook.define.catalogue import definition
from kernels import KERNELS, LIMIT_S

DEFINITION = definition(ROOT, "nas")
FLAGS = ("-O3", "-DMPI_OVER_MESSAGES")
# One rank alone: without the harness's kernel and the other rank.
SOURCES = [
    KERNELS / "nas" / source
    for source in DEFINITION["sources"]
    if Path(source).name not in ("nas.c", "messages_world.c")
]
MIB = 1 << 20
FIRST_LEVEL = "32768,8,64"

pytestmark = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is absent")


@dataclass(frozen=True)
class Simulated:
    """What one repetition of a program does, in a simulation of two levels of cache."""

    operations: int
    instructions: int
    misses: int  # of data, of the last level

    @property
    def per_operation(self) -> float:
        """Misses of the last level per operation of the benchmark."""
        return self.misses / self.operations

    @property
    def instructions_per_operation(self) -> float:
        """Instructions per operation of the benchmark."""
        return self.instructions / self.operations


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    objects = kernels.all_compiled([*SOURCES, ROOT / "tests/nas_alone.c"], *FLAGS)
    target = tmp_path_factory.mktemp("nas") / "alone"
    return kernels.linked(target, *objects, kernels.harness(), flags=FLAGS)


def simulated(alone: Path, size: str, cache_bytes: int, folder: Path) -> Simulated:
    """One verified repetition of BT on one rank, by cachegrind with a last level of this size."""
    out = folder / f"{size}-{cache_bytes}.out"
    done = subprocess.run(
        [
            *("valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", f"--D1={FIRST_LEVEL}"),
            *(f"--I1={FIRST_LEVEL}", f"--LL={cache_bytes},16,64"),
            *(f"--cachegrind-out-file={out}", str(alone), "bt", size),
        ],
        capture_output=True,
        text=True,
        timeout=4 * LIMIT_S,
        check=True,
    )
    lines = dict(line.split(": ", 1) for line in out.read_text().splitlines() if ": " in line)
    counts = dict(zip(lines["events"].split(), map(int, lines["summary"].split()), strict=True))
    return Simulated(int(done.stdout), counts["Ir"], counts["DLmr"] + counts["DLmw"])


def test_the_small_cube_fits_a_cache_of_1_mib_and_not_a_smaller_one(
    alone: Path, tmp_path: Path
) -> None:
    fits = simulated(alone, "S", MIB, tmp_path)
    too_large = simulated(alone, "S", MIB // 8, tmp_path)
    # 60 steps touch the same arrays: what misses once for each line misses no more.
    assert fits.misses * 64 < MIB
    assert too_large.misses > 20 * fits.misses
    assert too_large.instructions == fits.instructions


@pytest.mark.long
def test_the_larger_cube_misses_more_per_operation_where_it_does_not_fit(
    alone: Path, tmp_path: Path
) -> None:
    small = simulated(alone, "S", MIB, tmp_path)
    large = simulated(alone, "W", MIB, tmp_path)
    held = simulated(alone, "W", 32 * MIB, tmp_path)
    assert large.per_operation > 20 * small.per_operation  # 51 times on the author's machine
    assert held.per_operation < small.per_operation
    ratio = large.instructions_per_operation / small.instructions_per_operation
    assert 0.97 < ratio < 1.03

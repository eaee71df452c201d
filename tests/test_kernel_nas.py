"""The nas kernel: programs that verify on any number of ranks, and messages counted by hand."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernels
from benchbook import network
from benchbook.host.compilers import program_of
from kernels import KERNELS, points

SOURCES = [
    *sorted((KERNELS / "nas").glob("*.c")),
    *(KERNELS / "mpi" / name for name in ("launch.c", "world.c")),
]
PROGRAMS = ("ep", "is", "cg", "mg", "lu")  # on 1, 2, 4, … ranks
SQUARE_PROGRAMS = ("sp", "bt")  # on 1, 4, 9, … ranks
STARTERS = {"mpich": "mpiexec.mpich", "openmpi": "mpiexec.openmpi"}
CPUS = sorted(os.sched_getaffinity(0))
SANITIZERS = {
    "gcc": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    # It warns of loops that -O1 does not vectorise. Other flags: what gcc made is kept by them.
    "clang": (
        "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-pass-failed"
    ),
}  # fmt: skip
VETH = {"path": "veth"}
PATIENCE_S = 120

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="two ranks need a CPU each")


def built(folder: Path, library: str, *flags: str) -> Path:
    """The kernel with this library of MPI; skips the test where that is not installed."""
    if program_of(f"mpicc.{library}") is None or shutil.which(STARTERS[library]) is None:
        pytest.skip(f"{library} is not installed")
    flags = flags or ("-O3",)
    return kernels.build(folder / library, *SOURCES, flags=flags, compiler=f"mpicc.{library}")


@pytest.fixture(scope="module")
def mpich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("nas"), "mpich")


@pytest.fixture(scope="module")
def openmpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("nas"), "openmpi")


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH], None) as made:
        yield made


def point(program: str, size: str = "S", samples: int = 1) -> str:
    """The option for one point, without warm-ups."""
    return f"--point=method={program},class={size},samples={samples},warmup=0,loops=1"


def observed(program: Path, ranks: int, *wanted: str) -> list[dict[str, Any]]:
    """The observations of points, all of which verify; ranks may share CPUs."""
    return verified(kernels.run(program, f"--ranks={ranks}", "--crowded", *wanted), *wanted)


def verified(done: subprocess.CompletedProcess[str], *wanted: str) -> list[dict[str, Any]]:
    """The observations of points of a start, all of which verify."""
    assert done.returncode == 0, done.stderr + done.stdout
    measured = points(done.stdout)
    assert [each["status"] for each in measured] == ["ok"] * len(wanted)
    seen = [each["observations"] for each in measured]
    assert all(each["values_wrong"] == 0 and each["values_verified"] > 0 for each in seen)
    return seen


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_all_programs_verify_in_the_smallest_class(mpich: Path, ranks: int) -> None:
    seen = observed(mpich, ranks, *(point(program, samples=2) for program in PROGRAMS))
    for each in seen:
        assert each["rank_count"] == ranks
        assert each["verification_error"] < 1e-8
        assert 0 < each["busy_fraction"] <= 1
        assert each["busiest_rank_ratio"] >= 1


@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_programs_that_want_a_square_of_ranks_verify(mpich: Path, ranks: int) -> None:
    seen = observed(mpich, ranks, *map(point, SQUARE_PROGRAMS))
    assert [each["values_verified"] for each in seen] == [10, 10]


@pytest.mark.parametrize("ranks", [1, 2])
def test_they_verify_with_the_other_library(openmpi: Path, ranks: int) -> None:
    (*_, last) = observed(openmpi, ranks, *map(point, PROGRAMS))
    assert last["mpi_library"].startswith("Open MPI")


LARGER = [
    *((program, "W", ranks) for program in PROGRAMS for ranks in (1, 2, 4)),
    *((program, "A", ranks) for program in PROGRAMS for ranks in (1, 2)),
    *((program, size, ranks) for program in SQUARE_PROGRAMS for size in "WA" for ranks in (1, 4)),
]


@pytest.mark.long
@pytest.mark.parametrize(("program", "size", "ranks"), LARGER)
def test_they_verify_in_larger_classes(mpich: Path, program: str, size: str, ranks: int) -> None:
    observed(mpich, ranks, point(program, size))


@pytest.mark.parametrize("program", SQUARE_PROGRAMS)
def test_large_messages_of_ranks_at_the_same_stage_do_not_wait_for_each_other(
    mpich: Path, program: str
) -> None:
    """A library buffers small ones; all ranks once sent before they received."""
    observed(mpich, 4, point(program, "W"))


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.long)])
def test_sanitizers_find_nothing(
    tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("MPICH_CC", compiler)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # the libraries leave memory behind
    program = built(tmp_path, "mpich", *SANITIZERS[compiler])
    observed(program, 2, *map(point, PROGRAMS))
    observed(program, 4, *map(point, SQUARE_PROGRAMS))


def test_they_verify_between_two_hosts(mpich: Path, hosts: network.Network) -> None:
    door = hosts.door(VETH)
    if door.refused:
        pytest.skip(door.refused)
    addresses = [f"--{name}={value}" for name, value in door.options.items()]
    done = subprocess.run(
        [mpich, "--ranks=2", *addresses, *map(point, PROGRAMS)],
        capture_output=True,
        text=True,
        pass_fds=door.inherits,
        preexec_fn=door.enter,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for measured in points(done.stdout):
        assert measured["status"] == "ok"
        assert measured["observations"]["shared_memory"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ranks=3", "--crowded", point("cg")), "CG divides its matrix among 1, 2 or 4 ranks"),
        (("--ranks=3", "--crowded", point("mg")), "MG divides its grid among 1, 2, 4 or 8 ranks"),
        (("--ranks=2", point("sp")), "SP divides its cube among 1, 4 or 9 ranks"),
        (("--ranks=2", point("bt")), "BT divides its cube among 1, 4 or 9 ranks"),
        (("--ranks=0", point("ep")), "--ranks '0' is not a whole number from 1"),
        ((point("ep", "Z"),), "class=Z is not a value of this key"),
        ((point("ft"),), "method=ft is no method of nas"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    mpich: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = kernels.run(mpich, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_ranks_than_cpus_run_on_request_only(mpich: Path) -> None:
    done = kernels.run(mpich, f"--ranks={len(CPUS) * 2}", point("ep"))
    assert done.returncode == 77
    assert "give it one for each rank" in done.stdout


# CG: 25 steps of conjugate gradients in each of 15 iterations, and one product more at the end.
CG_ROWS, CG_ITERATIONS, CG_STEPS = 1400, 15, 25


def look_at_messages_of_cg(seen: dict[str, Any], ranks: int, columns: int, turned: int) -> None:
    """With 2 or 4 ranks a row of the grid of ranks has two: one exchange sums over it.

    Each product sends half of the matrix's rows to the other rank of the row: with two ranks the
    half that the other one goes on with, with four all rows of the own block. With four, two ranks
    then swap their halves across the grid. Dot products send one number, and two after each solve.
    """
    exchanges = columns // 2
    products = CG_STEPS + 1
    numbers = 1 + 2 * CG_STEPS + 1  # rho, two in each step, and the last residual
    part_bytes = CG_ROWS // 2 * 8
    messages = ranks * exchanges * (products + numbers + 1) + turned * products
    message_bytes = (
        ranks * exchanges * (products * part_bytes + numbers * 8 + 16)
        + turned * products * part_bytes
    )
    assert seen["rank_messages"] == CG_ITERATIONS * messages
    assert seen["rank_message_bytes"] == CG_ITERATIONS * message_bytes
    assert seen["collective_calls"] == 0


@pytest.mark.parametrize(("ranks", "columns", "turned"), [(2, 2, 0), (4, 2, 2)])
def test_messages_of_cg_are_those_counted_by_hand(
    mpich: Path, ranks: int, columns: int, turned: int
) -> None:
    (seen,) = observed(mpich, ranks, point("cg"))
    look_at_messages_of_cg(seen, ranks, columns, turned)


IS_KEYS, IS_LARGEST, IS_BUCKETS, IS_ITERATIONS, IS_TESTS = 1 << 16, 1 << 11, 1 << 9, 10, 5


def is_keys() -> np.ndarray:
    """The keys of class S: a quarter of the largest, times the sum of four random numbers."""
    state, keys = 314159265, []
    for _ in range(IS_KEYS):
        total = 0.0
        for _ in range(4):
            state = state * 5**13 % 2**46
            total += state / 2**46
        keys.append(int(IS_LARGEST / 4 * total))
    return np.array(keys)


def look_at_bytes_of_is(seen: dict[str, Any], ranks: int) -> None:
    """Three collective calls an iteration: the sizes of the buckets with the keys that are tested,
    how many keys go to each rank, and the keys that do not stay where they are.
    """
    keys = is_keys()
    share = IS_KEYS // ranks
    moved = 0
    for iteration in range(1, IS_ITERATIONS + 1):
        keys[iteration], keys[iteration + IS_ITERATIONS] = iteration, IS_LARGEST - iteration
        buckets = keys // (IS_LARGEST // IS_BUCKETS)
        filled = np.cumsum(np.bincount(buckets, minlength=IS_BUCKETS))
        owner, rank = np.zeros(IS_BUCKETS, int), 0
        for bucket in range(IS_BUCKETS):
            owner[bucket] = rank
            rank += filled[bucket] >= (rank + 1) * share
        moved += int(np.count_nonzero(owner[buckets] != np.arange(IS_KEYS) // share))
    sizes = (IS_BUCKETS + IS_TESTS) * 4 + (ranks - 1) * 4
    assert seen["collective_calls"] == ranks * IS_ITERATIONS * 3
    assert seen["collective_bytes"] == ranks * IS_ITERATIONS * sizes + moved * 4
    assert seen["rank_messages"] == 0


@pytest.mark.parametrize("ranks", [2, 4])
def test_bytes_of_is_are_those_counted_by_hand(mpich: Path, ranks: int) -> None:
    (seen,) = observed(mpich, ranks, point("is"))
    look_at_bytes_of_is(seen, ranks)


def test_without_the_counting_layer_nothing_is_said_of_messages(tmp_path: Path) -> None:
    program = built(tmp_path, "mpich", "-O3", "-DNAS_UNCOUNTED")
    (seen,) = observed(program, 2, point("cg"))
    assert seen["rank_messages"] is None
    assert seen["busy_fraction"] is None
    assert seen["values_verified"] == 1


@pytest.mark.parametrize("flags", [("-O0",), ("-Ofast",), ("-O3", "-march=native")], ids="".join)
def test_they_verify_under_other_flags(tmp_path: Path, flags: tuple[str, ...]) -> None:
    program = built(tmp_path, "mpich", *flags)
    observed(program, 1, *map(point, (*PROGRAMS, *SQUARE_PROGRAMS)))


def ranks_in(folder: Path) -> list[int]:
    """The processes there that are ranks, or start them."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            is_there = entry.name.isdigit() and (entry / "cwd").readlink() == folder
            if is_there and b"--launched=" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_rank_that_is_killed_ends_all(mpich: Path, tmp_path: Path) -> None:
    endless = "--point=method=cg,class=S,samples=1000000,warmup=0,loops=1"
    with subprocess.Popen(
        [mpich, "--ranks=2", endless], cwd=tmp_path, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            until = time.monotonic() + PATIENCE_S
            while len(ranks_in(tmp_path)) < 3 and time.monotonic() < until:
                time.sleep(0.05)
            os.kill(max(ranks_in(tmp_path)), signal.SIGKILL)
            _, words = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 1
    assert "before its ranks did; it said" in words
    while ranks_in(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert ranks_in(tmp_path) == []


def test_what_is_in_the_program_itself_verifies_too(tmp_path: Path) -> None:
    program = built(tmp_path, "mpich", "-O2", "-mcmodel=large", f"-DNAS_STATIC_BYTES={1 << 28}")
    observed(program, 1, *map(point, (*PROGRAMS, *SQUARE_PROGRAMS)))

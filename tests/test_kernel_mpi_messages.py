"""The few MPI calls on the messages library: MPI's matching rules, and the mpi kernel's variant."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from test_kernel_mpi import CPUS, MEMORY, METHODS, VETH, ended, point, start, wait_until
from two_hosts import SANITIZERS, children

import kernels
from benchbook import network
from benchbook.define.catalogue import definition
from kernels import DEATH_LIMIT_S, KERNELS, LIMIT_S, points

DEFINITION = definition(ROOT, "mpi")
SOURCES = [KERNELS / "mpi" / source for source in DEFINITION["sources"]]
FLAGS = tuple(DEFINITION["variants"]["messages"]["flags"])
# Without the kernel and the ways to open carriers.
MATCHING = [
    source
    for source in SOURCES
    if source.stem == "over_messages"
    or (".." in source.parts and source.stem not in ("ends", "channel"))
]
EAGER_BYTES = 4096
MESSAGES, FEW = 640, 96  # of each source; whole windows of 32

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both ranks need a CPU each")


def build_matching(folder: Path, *flags: str, compiler: str = "gcc") -> Path:
    own = (*(flags or ("-O2",)), "-DMPI_OVER_MESSAGES")
    sources = [
        *MATCHING,
        KERNELS / "mpi/collectives.c",
        KERNELS / "messages/lossy_carrier.c",
        ROOT / "tests/mpi_matching.c",
    ]
    objects = kernels.all_compiled(sources, *own, compiler=compiler)
    harness = kernels.harness(*(flags or ("-O2",)), compiler=compiler)
    return kernels.linked(folder / "matching", *objects, harness, flags=flags, compiler=compiler)


@pytest.fixture(scope="module")
def matching(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_matching(tmp_path_factory.mktemp("matching"))


@pytest.fixture(scope="module")
def mpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("mpi") / "messages", *SOURCES, flags=FLAGS)


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH], None) as made:
        yield made


def matched(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("faults", [0, 10_000])
def test_each_receive_has_the_message_that_the_rules_give_it(matching: Path, faults: int) -> None:
    """By source, tag and order; short and long, expected or not; over frames that are lost. What is
    made of these, such as a sum over all ranks, has known answers."""
    done = matched(matching, MESSAGES, faults)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_killed_rank_is_named_soon(matching: Path) -> None:
    began = time.monotonic()
    done = matched(matching, "killed")
    assert done.returncode == 1
    assert done.stderr.startswith("rank 2 has not answered for ")
    assert time.monotonic() - began < DEATH_LIMIT_S


def test_a_message_too_long_for_its_receive_ends_the_program(matching: Path) -> None:
    done = matched(matching, "long")
    assert done.returncode == 1
    assert done.stderr == "a message of 7 bytes is too long for its receive of 2\n"


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_messages_arrive_as_they_were_sent(
    mpi: Path, hosts: network.Network, factors: dict[str, str]
) -> None:
    sizes = (0, 3, 64, EAGER_BYTES, EAGER_BYTES + 1, 1 << 18)
    wanted = [(method, size) for method in METHODS for size in sizes]
    done = ended(start(mpi, hosts, factors, *(point(*setting) for setting in wanted)))
    assert done.returncode == 0, done.stderr
    for (method, size), measured in zip(wanted, points(done.stdout), strict=True):
        seen = measured["observations"]
        window = 1 if method == "round-trip" else 4 if size > 1 << 14 else 64
        assert measured["status"] == "ok", measured["reason"]
        assert measured["bytes_declared"] == METHODS[method] * window * size
        assert seen["messages"] == seen["messages_looked_at"] == METHODS[method] * window * 6
        assert seen["sent_before_received"] == (size <= EAGER_BYTES)
        assert seen["mpi_library"].startswith("none: ")
        assert seen["shared_memory"] == (factors is MEMORY)
        assert seen["device_mtu_bytes"] == (1500 if factors is VETH else None)


def ends_when_its_far_rank_is_killed(process: subprocess.Popen[str]) -> None:
    """Asserts that a start whose only child is its far rank ends soon, with one sentence."""
    try:
        assert wait_until(lambda: children(process.pid))
        (far_rank,) = children(process.pid)
        time.sleep(0.2)
        os.kill(far_rank, signal.SIGKILL)
        began = time.monotonic()
        done = ended(process)
        assert time.monotonic() - began < DEATH_LIMIT_S
    finally:
        process.kill()
    assert done.returncode == 1
    assert done.stderr.startswith("the far rank was ended by signal 9")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_a_far_rank_that_dies_ends_the_measuring_soon(
    mpi: Path, hosts: network.Network, factors: dict[str, str]
) -> None:
    ends_when_its_far_rank_is_killed(start(mpi, hosts, factors, point("one-way", 65536, 1_000_000)))


def test_nothing_is_left_of_a_killed_near_rank(mpi: Path, hosts: network.Network) -> None:
    process = start(mpi, hosts, VETH, point("one-way", 65536, 1_000_000))
    assert wait_until(lambda: children(process.pid))
    (far_rank,) = children(process.pid)
    process.kill()
    ended(process)
    assert wait_until(lambda: not Path(f"/proc/{far_rank}").exists())


def test_one_cpu_is_too_few(mpi: Path) -> None:
    done = kernels.run(mpi, point(), under=["taskset", "-c", str(CPUS[0])])
    assert done.returncode == 77
    assert "each rank polls all the time; give it two" in done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_find_nothing(compiler: str, hosts: network.Network, tmp_path: Path) -> None:
    matching = build_matching(tmp_path, *SANITIZERS, compiler=compiler)
    done = matched(matching, FEW, 10_000)
    assert (done.returncode, done.stderr) == (0, "")
    flags = (*SANITIZERS, "-DMPI_OVER_MESSAGES")
    mpi = kernels.build(
        tmp_path / "mpi", *SOURCES, flags=flags, common=SANITIZERS, compiler=compiler
    )
    asked = [point(method, size, 2) for method in METHODS for size in (0, 1000, 20000)]
    done = ended(start(mpi, hosts, VETH, *asked))
    assert (done.returncode, done.stderr) == (0, "")

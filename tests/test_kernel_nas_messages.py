"""The nas kernel without a library of MPI: its programs over this project's own messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from test_kernel_mpi import MEMORY, VETH, ended, start
from test_kernel_mpi_messages import ends_when_its_far_rank_is_killed
from test_kernel_nas import (
    CPUS,
    SANITIZERS,
    look_at_bytes_of_is,
    look_at_messages_of_cg,
    point,
    verified,
)

import kernels
from benchbook import network
from benchbook.define.catalogue import definition
from kernels import KERNELS

DEFINITION = definition(ROOT, "nas")
SOURCES = [KERNELS / "nas" / source for source in DEFINITION["sources"]]
FLAGS = tuple(DEFINITION["variants"]["messages"]["flags"])
PROGRAMS = ("ep", "is", "cg", "mg", "lu")

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both ranks need a CPU each")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("nas") / "messages", *SOURCES, flags=FLAGS)


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH], None) as made:
        yield made


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_programs_verify_and_send_what_was_counted_by_hand(
    program: Path, hosts: network.Network, factors: dict[str, str]
) -> None:
    wanted = [point(name, samples=2) for name in PROGRAMS]
    seen = verified(ended(start(program, hosts, factors, "--ranks=2", *wanted)), *wanted)
    for observations in seen:
        assert observations["verification_error"] < 1e-8
        assert observations["mpi_library"].startswith("none: ")
        assert observations["shared_memory"] == (factors is MEMORY)
    look_at_bytes_of_is(seen[PROGRAMS.index("is")], 2)
    look_at_messages_of_cg(seen[PROGRAMS.index("cg")], 2, columns=2, turned=0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ranks=1", point("cg")), "this build has 2 ranks, with a CPU each; give --ranks=2"),
        (("--ranks=2", "--crowded", point("cg")), "give --ranks=2 alone"),
        (("--ranks=2", point("sp")), "SP divides its cube among 1, 4 or 9 ranks"),
    ],
)
def test_what_it_cannot_do_is_said_in_a_sentence(
    program: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = kernels.run(program, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_a_far_rank_that_is_killed_ends_all(
    program: Path, hosts: network.Network, factors: dict[str, str]
) -> None:
    ends_when_its_far_rank_is_killed(
        start(program, hosts, factors, "--ranks=2", point("cg", samples=1_000_000))
    )


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.long)])
def test_sanitizers_find_nothing(compiler: str, hosts: network.Network, tmp_path: Path) -> None:
    common = SANITIZERS[compiler]
    flags = (*common, "-DMPI_OVER_MESSAGES")
    program = kernels.build(
        tmp_path / "nas", *SOURCES, flags=flags, common=common, compiler=compiler
    )
    wanted = [point(name) for name in ("is", "cg", "mg", "lu")]
    seen = verified(ended(start(program, hosts, VETH, "--ranks=2", *wanted)), *wanted)
    assert len(seen) == len(wanted)

"""What this host's release has no package of, in a Debian 13 root: `make test-long`.

Open MPI 5 starts the kernel again and again, and likwid counts from a folder with a dash in its
path, as every path of Nix' store has one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator

import debian
import pytest
from conftest import ROOT
from test_kernel_mpi import CPUS, MEMORY, VETH, ended, point, start

from benchbook import network
from benchbook.evidence.counters import likwid
from kernels import KERNELS, lines, points

PACKAGES = ["gcc", "libc6-dev", "libopenmpi-dev", "openmpi-bin"]
PACKAGES += ["libhwloc-dev", "liblua5.4-dev", "lua5.4", "make", "perl", "xz-utils"]  # for likwid
STARTS = 3
DASHED = "/x-y/likwid"
LIBRARIES = f"/usr/lib/{os.uname().machine}-linux-gnu"
# As flake.nix builds it, but without likwid-bench and with Debian's Lua and hwloc: the archive has
# lost likwid's own.
LIKWID = [f"PREFIX={DASHED}", "ACCESSMODE=perf_event", "BUILDDAEMON=false", "BUILDFREQ=false"]
LIKWID += ["LUA_INCLUDE_DIR=/usr/include/lua5.4", "LUA_LIB_NAME=lua5.4", "LUA_BIN=/usr/bin"]
LIKWID += ["HWLOC_INCLUDE_DIR=/usr/include", "HWLOC_LIB_NAME=hwloc", "BENCH_TARGET="]
LIKWID += [f"LUA_LIB_DIR={LIBRARIES}", f"HWLOC_LIB_DIR={LIBRARIES}"]
TOPOLOGY = "/etc/likwid_topo.cfg"
ZEN3 = {"family": 25, "model": 1}

pytestmark = [pytest.mark.long, pytest.mark.timeout(2 * debian.LIMIT_S)]


@pytest.fixture(scope="module")
def debian13() -> Iterator[debian.Root]:
    try:
        with debian.root(PACKAGES) as made:
            for name in ("common", "mpi", "mbw"):
                shutil.copytree(KERNELS / name, made.folder / "kernels" / name)
            yield made
    except debian.UnavailableError as why:
        pytest.skip(str(why))


def kernel(root: debian.Root, name: str, compiler: str) -> str:
    """The path in the root of a kernel that was built there."""
    flags = "-O2 -std=gnu17 -Wall -Wextra -Werror -I/kernels/common"
    sources = f"/kernels/{name}/*.c /kernels/common/*.c"
    root.done("sh", "-ec", f"{compiler} {flags} {sources} -o /{name} -lm -ldl -pthread")
    return f"/{name}"


@pytest.mark.skipif(len(CPUS) < 2, reason="both ranks need a CPU each")
@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_open_mpi_5_starts_again(debian13: debian.Root, factors: dict[str, str]) -> None:
    program = kernel(debian13, "mpi", "mpicc.openmpi")
    settings = [
        point(method, size) for method in ("round-trip", "both-ways") for size in (0, 1 << 16)
    ]
    with network.made([VETH], None) as hosts:
        for _ in range(STARTS):
            done = ended(start(program, hosts, factors, *settings, under=debian13.entering()))
            assert done.returncode == 0, done.stderr
            measured = points(done.stdout)
            assert [line["status"] for line in measured] == ["ok"] * len(settings)
            assert measured[0]["observations"]["mpi_library"].startswith("Open MPI v5.")
    assert not list((debian13.folder / "tmp").iterdir())


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the flake has likwid on x86 only")
def test_likwid_starts_a_kernel_from_a_path_with_a_dash(debian13: debian.Root) -> None:
    flake = (ROOT / "flake.nix").read_text()
    ((script, pattern, right),) = re.findall(
        r"substituteInPlace (\S*likwid-perfctr\S*) \\\s*--replace-fail '(.*)' '(.*)'", flake
    )
    program = kernel(debian13, "mbw", "gcc")
    words = "apt-get source -q --download-only --tar-only likwid && tar xf likwid_*.orig.tar.*"
    debian13.done("sh", "-ec", f"mkdir /likwid && cd /likwid && {words} && mv likwid-*/ source")
    make = f"make {shlex.join(LIKWID)}"
    install = ["sh", "-ec", f"cd /likwid/source && {make} && {make} install"]
    debian13.done(*install)
    claim_a_cpu_that_likwid_knows(debian13)
    assert start_below_likwid(debian13, program) == 77

    file = debian13.folder / "likwid/source" / script
    assert file.read_text().count(pattern) == 1
    file.write_text(file.read_text().replace(pattern, right))
    debian13.done(*install)
    assert start_below_likwid(debian13, program) == 0


def claim_a_cpu_that_likwid_knows(root: debian.Root) -> None:
    """On any other CPU likwid ends before it starts the program: then a file describes a Zen 3."""
    perfctr = f"{DASHED}/bin/{likwid.PROGRAM}"
    if likwid.parse_groups(root.run(perfctr, "-a").stdout):
        return
    root.done(f"{DASHED}/bin/likwid-genTopoCfg", "-o", TOPOLOGY)
    file = root.folder / TOPOLOGY[1:]
    text = file.read_text()
    for field, number in ZEN3.items():
        text = re.sub(rf"(?m)^(cpuid_info {field}) = .*", rf"\1 = {number}", text)
    file.write_text(text)
    assert likwid.parse_groups(root.run(perfctr, "-a").stdout)


def start_below_likwid(root: debian.Root, program: str) -> int:
    """The status that a kernel reports at its end, started as the collector starts it."""
    command = [
        program,
        "--bytes=65536",
        "--point=method=copy,call=memcpy,samples=3,warmup=1,loops=1",
    ]
    environment = {"HOME": "/", "PATH": f"{DASHED}/bin:/usr/bin"}
    done = root.run(*likwid.command(command, CPUS[:1], "BRANCH"), env=environment)
    ends = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert ends, done.stdout + done.stderr
    status: int = lines(ends[-1])[-1]["status"]
    assert done.returncode == status, done.stdout + done.stderr
    return status

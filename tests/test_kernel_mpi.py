"""The mpi kernel: messages of both libraries over both paths, and ranks that are killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import kernels
from benchbook import network
from benchbook.build.stage import build_variant
from benchbook.host.compilers import library_of, program_of
from kernels import KERNELS, LIMIT_S, lines, points

SOURCES = sorted((KERNELS / "mpi").glob("*.c"))
CPUS = sorted(os.sched_getaffinity(0))
VETH = {"path": "veth"}
MEMORY = {"path": "memory"}
LIBRARIES = {"mpich": "MPICH", "openmpi": "Open MPI"}
STARTERS = {"mpich": "mpiexec.mpich", "openmpi": "mpiexec.openmpi"}
PACKAGES = {"mpich": "libmpich-dev mpich", "openmpi": "libopenmpi-dev openmpi-bin"}
METHODS = {"round-trip": 2, "one-way": 1, "both-ways": 2}  # directions
PATIENCE_S = 120

SLOTS = r"""
#include <stdio.h>
#include <stdlib.h>
#include "slots.h"

/* One message right, one from another sample, one of another place, one with a byte changed. */
int main(int argc, char **argv) {
    static struct slots sent;
    const uint64_t bytes = strtoull(argv[argc - 1], NULL, 10);
    for (int harm = 0; harm < 4; harm++) {
        slots_make(&sent, bytes, 4, 0, 7);
        slots_stamp(&sent, 3 + (harm == 1));
        unsigned char *first = slots_next(&sent);
        for (int i = 0; i < 3; i++) {
            (void)slots_next(&sent);
        }
        if (harm == 2) {
            for (uint64_t i = 0; i < bytes; i++) {
                first[i] = first[i + sent.slot_bytes];
            }
        }
        if (harm == 3 && bytes > 0) {
            first[bytes - 1] ^= 1;
        }
        slots_look(&sent, 4, 3);
        printf("%llu of %llu\n", (unsigned long long)sent.wrong,
               (unsigned long long)sent.looked_at);
    }
    return 0;
}
"""

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both ranks need a CPU each")


def built(folder: Path, library: str) -> Path:
    if program_of(f"mpicc.{library}") is None or shutil.which(STARTERS[library]) is None:
        pytest.skip(f"{PACKAGES[library]} is not installed")
    return kernels.build(folder / library, *SOURCES, compiler=f"mpicc.{library}")


@pytest.fixture(scope="module", params=list(LIBRARIES))
def library(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def mpi(library: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("mpi"), library)


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH], None) as made:
        yield made


def point(
    method: str = "round-trip", payload_bytes: int = 64, samples: int = 5, rotation_bytes: int = 0
) -> str:
    own = f"payload_bytes={payload_bytes},rotation_bytes={rotation_bytes}"
    return f"--point=method={method},samples={samples},warmup=1,loops=1,{own}"


def start(
    program: Path | str,
    hosts: network.Network,
    factors: dict[str, str],
    *arguments: str,
    under: Sequence[str] = (),
    **options: Any,
) -> subprocess.Popen[str]:
    """A start of the kernel between these hosts, below another program where one is named."""
    door = hosts.door(factors)
    if door.refused:
        pytest.skip(door.refused)
    addresses = [f"--{name}={value}" for name, value in door.options.items()]
    return subprocess.Popen(
        [*under, program, *addresses, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=door.inherits,
        preexec_fn=door.enter,  # noqa: PLW1509 - no thread of a test holds a lock
        **options,
    )


def ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_messages_arrive_as_they_were_sent(
    mpi: Path, library: str, hosts: network.Network, factors: dict[str, str]
) -> None:
    sizes = (0, 3, 64, 1 << 20)
    wanted = [(method, size) for method in METHODS for size in sizes]
    done = ended(start(mpi, hosts, factors, *(point(*setting) for setting in wanted)))
    assert done.returncode == 0, done.stderr
    for (method, size), measured in zip(wanted, points(done.stdout), strict=True):
        seen = measured["observations"]
        window = 1 if method == "round-trip" else 4 if size > 64 else 64
        assert measured["status"] == "ok", measured["reason"]
        assert measured["bytes_declared"] == METHODS[method] * window * size
        assert seen["messages"] == seen["messages_looked_at"] == METHODS[method] * window * 6
        assert seen["messages_in_window"] == seen["message_buffers"] == window
        assert seen["sent_before_received"] == (size <= 64)
        assert seen["mpi_library"].startswith(LIBRARIES[library])
        assert seen["shared_memory"] == (factors is MEMORY)
        assert seen["device_mtu_bytes"] == (1500 if factors is VETH else None)
    assert len([line for line in lines(done.stdout) if line["kind"] == "sample"]) == 6 * len(wanted)


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
def test_it_starts_three_times_in_a_row(
    mpi: Path, hosts: network.Network, factors: dict[str, str]
) -> None:
    """Open MPI 5 stumbles over what an earlier start has left; test_long_debian13.py has it."""
    for _ in range(3):
        done = ended(start(mpi, hosts, factors, point()))
        assert done.returncode == 0, done.stderr


def test_buffers_rotate_over_as_much_memory_as_is_asked_for(
    mpi: Path, hosts: network.Network
) -> None:
    rotation_bytes = 1 << 20
    wanted = [("round-trip", 4096, 300, rotation_bytes), ("one-way", 4096, 5, rotation_bytes)]
    done = ended(start(mpi, hosts, MEMORY, *(point(*setting) for setting in wanted)))
    assert done.returncode == 0, done.stderr
    for measured in points(done.stdout):
        assert measured["observations"]["message_buffers_bytes"] == rotation_bytes
        assert measured["observations"]["message_buffers"] == rotation_bytes // 4096


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((point(payload_bytes=1 << 30),), "payload_bytes=1073741824 is over 4194304"),
        (("--launched=/proc/self/fd/1", point()), "leave --launched to the launcher"),
        ((point(), "--far-namespace=/nowhere"), "/nowhere cannot be opened"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    mpi: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = kernels.run(mpi, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_cpu_is_too_few(mpi: Path) -> None:
    done = kernels.run(mpi, point(), under=["taskset", "-c", str(CPUS[0])])
    assert done.returncode == 77
    assert "each rank polls all the time; give it two" in done.stdout


def test_without_its_starter_it_says_how_to_get_it(mpi: Path, library: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [mpi, point()], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 77
    reason = json.loads(done.stdout.splitlines()[-1])["reason"]
    package = PACKAGES[library].split()[-1]
    assert reason.startswith(f"{STARTERS[library]} is not on PATH; install it (Debian: apt-get")
    assert reason.endswith(f"{package})")


def test_a_starter_that_fails_is_quoted(mpi: Path, library: str, tmp_path: Path) -> None:
    broken = tmp_path / STARTERS[library]
    broken.write_text("#!/bin/sh\necho 'nothing works today' >&2\nexit 3\n")
    broken.chmod(0o755)
    done = subprocess.run(
        [mpi, point()], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "exit status 3 before its ranks did; it said: nothing works today" in done.stderr


def test_a_user_without_rights_measures_over_memory(mpi: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else; any other user's tests are of that already")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are root's own
        folder = Path(name)
        folder.chmod(0o755)
        program = shutil.copy(mpi, folder)
        out, err = folder / "out", folder / "err"
        for file in (out, err):
            file.touch()
            os.chown(file, 65534, 65534)
        with out.open("w") as out_file, err.open("w") as err_file:
            done = subprocess.run(
                [*nobody, program, point()], stdout=out_file, stderr=err_file, cwd="/", check=False
            )
        assert done.returncode == 0, err.read_text()
        assert '"status":"ok"' in out.read_text()


def processes_in(folder: Path) -> dict[int, str]:
    """pid -> command line, of those that work there."""
    command_lines = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == folder:
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    command_lines[int(entry.name)] = words.decode(errors="replace")
            except OSError:
                continue
    return command_lines


def wait_until(what: Any) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def ranks(folder: Path) -> list[int]:
    return [pid for pid, words in processes_in(folder).items() if words.count("--launched=") == 1]


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


VICTIMS = ("launcher", "first", "starter", "rank", "interrupt")


@pytest.mark.parametrize("factors", [VETH, MEMORY], ids=lambda factors: factors["path"])
@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_is_left_of_what_was_killed(
    mpi: Path,
    library: str,
    hosts: network.Network,
    factors: dict[str, str],
    victim: str,
    tmp_path: Path,
) -> None:
    shared = set(Path("/dev/shm").iterdir())
    endless = point("one-way", 65536, 1_000_000)
    process = start(mpi, hosts, factors, endless, cwd=tmp_path)
    at_work = wait_until(lambda: len(ranks(tmp_path)) >= 2 + (library == "mpich"))
    everyone = processes_in(tmp_path)
    assert at_work, everyone
    if victim == "interrupt":
        process.send_signal(signal.SIGINT)
    else:
        chain = sorted(pid for pid in everyone)
        name = STARTERS[library]
        pid = {
            "launcher": process.pid,
            "first": next(pid for pid in chain if pid != process.pid),
            "starter": next(pid for pid in chain if everyone[pid].startswith((name, "prterun"))),
            "rank": max(ranks(tmp_path)),
        }[victim]
        os.kill(pid, signal.SIGKILL)
    done = ended(process)
    assert done.returncode != 0
    assert wait_until(lambda: not processes_in(tmp_path)), processes_in(tmp_path)
    assert set(Path("/dev/shm").iterdir()) <= shared


def test_a_killed_rank_is_named_although_the_starter_waits_on(
    mpi: Path, library: str, hosts: network.Network, tmp_path: Path
) -> None:
    process = start(mpi, hosts, MEMORY, point("one-way", 65536, 1_000_000), cwd=tmp_path)
    assert wait_until(lambda: len(ranks(tmp_path)) >= 2 + (library == "mpich"))
    victim = max(ranks(tmp_path))
    assert wait_until(lambda: cpu_s(victim) > 0.2)  # so the launcher knows of it
    starters = [
        pid
        for pid, words in processes_in(tmp_path).items()
        if words.startswith((STARTERS[library], "prterun", "hydra_pmi_proxy"))
    ]
    for pid in starters:
        os.kill(pid, signal.SIGSTOP)
    os.kill(victim, signal.SIGKILL)
    done = ended(process)
    assert done.returncode == 1
    # Open MPI may say before it that it could not read from the rank.
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(r"rank \d was ended before its work was done; .*", last)
    assert wait_until(lambda: not processes_in(tmp_path)), processes_in(tmp_path)


def test_a_wrong_message_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "look.c"
    source.write_text(SLOTS)
    program = kernels.build(tmp_path / "look", source, kernels.COMMON / "slots.c", flags=("-O2",))
    wrong = [
        subprocess.run([program, size], capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )
        for size in ("8", "3", "4096", "1001")
    ]
    assert wrong == [["0 of 4", "4 of 4", "1 of 4", "1 of 4", ""]] * 4


def test_without_the_library_a_variant_says_how_to_get_it(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    record = build_variant(ROOT, "mpi", library, tmp_path / "variant.json")
    assert record["state"] == "cannot_run"
    assert record["reason"] == (
        f"compiler 'mpicc.{library}' is not on PATH; install it (Debian: apt-get install "
        f"{PACKAGES[library]})"
    )


def test_a_plain_name_stands_for_the_library_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "mpicc"
    plain.write_text("#!/bin/sh\necho 'mpicc for MPICH version 9.9'\n")
    plain.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(shutil, "which", lambda name: str(plain) if name == "mpicc" else None)
    assert program_of("mpicc.mpich") == str(plain)
    assert program_of("mpicc.openmpi") is None
    assert library_of("mpicc.mpich", str(plain)) == "MPICH version 9.9"
    assert library_of("gcc", str(plain)) == ""

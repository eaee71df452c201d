"""The dsm kernel: shared memory by messages alone. Its counts are those of a formula, and its
results those of one process, whatever the build, the number of nodes and what carries the messages.
"""

from __future__ import annotations

import itertools
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import kernels
from kernels import DEATH_LIMIT_S, KERNELS, outcome, points

MESSAGES = (
    "control descriptor endpoint frame polling primitives receiving sending silence state targets "
    "memory_carrier udp_carrier"
)
SOURCES = [
    *sorted((KERNELS / "dsm").glob("*.c")),
    *(KERNELS / "messages" / f"{name}.c" for name in MESSAGES.split()),
]
BUILDS = {
    "none": (),
    "combining": ("-DDSM_COMBINING",),
    "coalescing": ("-DDSM_COALESCING",),
    "both": ("-DDSM_COMBINING", "-DDSM_COALESCING"),
    "pages": ("-DDSM_PAGES",),
}
ADSM = tuple(BUILDS)[:4]
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREADS = ("-O1", "-fsanitize=thread")
PACKET_BYTES, HEAD_BYTES = 1408, 8

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two nodes need a CPU each"
)


def built(folder: Path, name: str, *flags: str, compiler: str = "gcc") -> Path:
    flags = (*(flags or ("-O2",)), *BUILDS[name])
    common = flags if "-O1" in flags else ("-O2",)
    return kernels.build(folder / name, *SOURCES, flags=flags, common=common, compiler=compiler)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dsm")
    return {name: built(folder, name) for name in BUILDS}


def point(method: str, size: int, samples: int = 1) -> str:
    """The option for one point, without warm-ups."""
    return f"--point=method={method},size={size},samples={samples},warmup=0,loops=1"


def observed(program: Path, *arguments: str) -> dict[str, Any]:
    """The observations of the only point, which verifies."""
    seen: dict[str, Any]
    only = outcome(program, *arguments)
    assert (only["status"], only["reason"]) == ("ok", "")
    seen = only["observations"]
    assert seen["values_wrong"] == 0
    assert seen["values_verified"] > 0
    return seen


class Packer:
    """What two nodes send each other: packets and bytes, as records.c and updates.c fill them."""

    def __init__(self, combining: bool) -> None:
        self.combining = combining
        self.packets = self.bytes = self.waiting = 0

    def send(self, size: int) -> None:
        self.packets += -(-size // PACKET_BYTES)
        self.bytes += size

    def flush(self) -> None:
        self.send(self.waiting)
        self.waiting = 0

    def update(self, size: int, times: int = 1) -> None:
        """Updates of as many bytes each."""
        if size == 0:
            return
        if not self.combining or size > PACKET_BYTES - HEAD_BYTES:
            self.flush()
            self.packets += times * -(-size // PACKET_BYTES)
            self.bytes += times * size
            return
        for _ in range(times):
            if self.waiting + HEAD_BYTES + size > PACKET_BYTES:
                self.flush()
            self.waiting += HEAD_BYTES + size

    def barrier(self) -> None:
        self.flush()
        self.send(4)


def lu_counts(build: str, n: int, b: int) -> tuple[int, int, int]:
    """Codes, packets and bytes of two nodes, which own blocks by the parity of their column.

    Factoring a block stores (b³ - b) / 3 elements, dividing b² (b + 1) / 2, changing one on the
    right b² (b - 1) / 2, and any other b³; between barriers a node has its blocks of one phase,
    and the next diagonal block right after those of the interior.
    """
    blocks = n // b
    stores = {
        "factor": (b**3 - b) // 3,
        "divide": b * b * (b + 1) // 2,
        "modify_row": b * b * (b - 1) // 2,
        "modify": b**3,
    }
    codes = packets = size = 0
    for node in range(2):
        packer = Packer(build in ("combining", "both"))

        def touch(kind: str, column: int, node: int = node, packer: Packer = packer) -> int:
            if column % 2 != node:
                return 0
            if build in ("coalescing", "both"):
                packer.update(b * b * 8)
                return 1
            packer.update(8, stores[kind])
            return stores[kind]

        for step in range(blocks):
            later = range(step + 1, blocks)
            codes += touch("factor", step)
            packer.barrier()
            for column in later:
                codes += touch("divide", step) + touch("modify_row", column)
            packer.barrier()
            for _, column in itertools.product(later, later):
                codes += touch("modify", column)
        packer.barrier()
        packets += packer.packets
        size += packer.bytes
    return codes, packets, size


def test_the_sum_over_blocks_is_the_closed_formula() -> None:
    """(n³ - n) / 3 stores, and N (N + 1) (2 N + 1) / 6 announcements."""
    for n in (16, 32, 64, 128):
        blocks = n // 16
        assert lu_counts("none", n, 16)[0] == (n**3 - n) // 3
        assert lu_counts("coalescing", n, 16)[0] == blocks * (blocks + 1) * (2 * blocks + 1) // 6


@pytest.mark.parametrize("build", ADSM)
def test_counts_of_lu_are_those_of_the_formula(programs: dict[str, Path], build: str) -> None:
    """Without combining there is a packet for each store, or two for each block of 2,048 bytes, and
    one for each of 2 N + 1 barriers and node.
    """
    seen = observed(programs[build], point("lu", 64))
    codes, packets, size = lu_counts(build, 64, 16)
    assert codes == (87360 if build in ("none", "combining") else 30)
    if build == "none":
        assert (packets, size) == (87360 + 2 * 9, 8 * 87360 + 4 * 2 * 9)
    if build == "coalescing":
        assert (packets, size) == (2 * 30 + 2 * 9, 2048 * 30 + 4 * 2 * 9)
    assert (seen["consistency_codes"], seen["packets"], seen["packet_bytes"]) == (
        codes,
        packets,
        size,
    )


RADIX, KEYS = 1024, 4096


def radix_keys(count: int) -> np.ndarray:
    """x' = 5^13 x modulo 2^46, of which the upper 20 bits are a key."""
    state, keys = 314159265, []
    for _ in range(count):
        state = state * 5**13 % 2**46
        keys.append(state >> 26)
    return np.array(keys)


def radix_counts(build: str, count: int) -> tuple[int, int, int]:
    """Codes, packets and bytes of two nodes P: 6 n + 4096 P stores, or 2 (1024 + 3) P
    announcements.
    """
    keys, part = radix_keys(count), count // 2
    packers = [Packer(build in ("combining", "both")) for _ in range(2)]
    codes = 0
    for shift in (0, 10):
        digits = keys >> shift & (RADIX - 1)
        for node, packer in enumerate(packers):
            runs = np.bincount(digits[node * part : (node + 1) * part], minlength=RADIX)
            if build in ("coalescing", "both"):
                codes += RADIX + 3
                packer.update(4 * RADIX)
                packer.barrier()
                packer.update(4 * RADIX)
                for run in runs:
                    packer.update(4 * int(run))
                packer.update(4 * RADIX)
            else:
                codes += 3 * part + 2 * RADIX
                packer.update(4, RADIX + part)
                packer.barrier()
                packer.update(4, RADIX + 2 * part)
            packer.barrier()
        keys = keys[np.argsort(digits, kind="stable")]
    return (
        codes,
        sum(packer.packets for packer in packers),
        sum(packer.bytes for packer in packers),
    )


@pytest.mark.parametrize("build", ADSM)
def test_counts_of_radix_are_those_of_the_formula(programs: dict[str, Path], build: str) -> None:
    seen = observed(programs[build], point("radix", KEYS))
    codes, packets, size = radix_counts(build, KEYS)
    assert codes == (6 * KEYS + 8192 if build in ("none", "combining") else 2 * 2 * (RADIX + 3))
    if build == "none":
        assert (packets, size) == (codes + 2 * 4, 4 * codes + 4 * 2 * 4)
    assert (seen["consistency_codes"], seen["packets"], seen["packet_bytes"]) == (
        codes,
        packets,
        size,
    )


@pytest.mark.parametrize("nodes", [1, 3, 4, 8])
@pytest.mark.parametrize("build", BUILDS)
def test_results_are_those_of_one_process(
    programs: dict[str, Path], build: str, nodes: int
) -> None:
    for method, size in (("lu", 48), ("radix", 1536)):
        seen = observed(programs[build], f"--nodes={nodes}", "--crowded", point(method, size, 2))
        assert seen["node_count"] == nodes
        assert nodes > 1 or seen["packets"] == 0


@pytest.mark.parametrize("build", ["both", "pages"])
def test_results_are_the_same_over_udp(programs: dict[str, Path], build: str) -> None:
    for method, size in (("lu", 48), ("radix", 1536)):
        observed(programs[build], "--carrier=udp", "--nodes=3", "--crowded", point(method, size))


@pytest.mark.parametrize(("method", "size"), [("lu", 64), ("radix", KEYS)])
def test_pages_are_counted_alike_however_faults_are_caught(
    programs: dict[str, Path], method: str, size: int
) -> None:
    names = ("page_faults_caught", "pages_fetched", "twins", "diffs")
    own = observed(programs["pages"], point(method, size))
    other = observed(programs["pages"], "--mprotect", point(method, size))
    assert other["fault_way"] == "mprotect"
    assert own["fault_way"] in ("mprotect", "userfaultfd")
    assert [own[name] for name in names] == [other[name] for name in names]
    assert own["twins"] == own["diffs"] > 0
    parts = ("sync", "writing", "faulting", "messages", "task")
    assert sum(own[f"{part}_fraction"] for part in parts) == pytest.approx(1)


USERFAULTFD = {"x86_64": "323", "aarch64": "282"}.get(platform.machine(), "")


@pytest.mark.skipif(not USERFAULTFD, reason="the number of userfaultfd is not known here")
def test_where_userfaultfd_is_forbidden_mprotect_is_taken_and_named(
    programs: dict[str, Path],
) -> None:
    refused = (sys.executable, str(ROOT / "tests/hostile/refuse_calls.py"), USERFAULTFD)
    done = kernels.run(programs["pages"], point("lu", 64), under=refused)
    assert (done.returncode, done.stderr) == (0, "")
    (result,) = points(done.stdout)
    assert result["observations"]["fault_way"] == "mprotect"


def test_where_no_fault_can_be_caught_the_reason_has_a_remedy(tmp_path: Path) -> None:
    forbidden = tmp_path / "forbidden.c"
    forbidden.write_text(
        "#include <errno.h>\n#include <stddef.h>\n"
        "int __wrap_mprotect(void *first, size_t bytes, int rights);\n"
        "int __wrap_mprotect(void *first, size_t bytes, int rights) {\n"
        "    errno = first && bytes && !rights ? EACCES : EINVAL;\n    return -1;\n}\n"
    )
    flags = ("-O2", *BUILDS["pages"], "-Wl,--wrap=mprotect")
    program = kernels.build(tmp_path / "pages", *SOURCES, forbidden, flags=flags)
    done = kernels.run(program, "--mprotect", point("lu", 64))
    assert done.returncode == 77
    assert done.stderr == (
        "node 1: neither userfaultfd nor mprotect catches a fault here (Permission denied); allow "
        "one of them, or take a build without DSM_PAGES\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (point("lu", 40),),
            "size=40 is none that 2 nodes can share by method=lu; give a multiple",
        ),
        (("--nodes=3", "--crowded", point("radix", 4096)), "give a multiple of the nodes"),
        (("--nodes=9", point("lu", 64)), "--nodes '9' is not a whole number from 1 to 8"),
        (("--carrier=tin", point("lu", 64)), "--carrier 'tin' is neither memory nor udp"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    programs: dict[str, Path], arguments: tuple[str, ...], words: str
) -> None:
    done = kernels.run(programs["none"], *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def nodes_of(process: subprocess.Popen[str]) -> list[int]:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


@pytest.mark.parametrize("killed", [0, 1])
@pytest.mark.parametrize("build", ["none", "pages"])
def test_a_killed_node_ends_all(
    programs: dict[str, Path], build: str, killed: int, children: list[subprocess.Popen[str]]
) -> None:
    """While the others start, as soon as all run, and while they work."""
    command = [str(programs[build]), "--nodes=3", "--crowded", point("lu", 512, 1000)]
    for started, pause_s in ((1, 0), (1, 0.002), (2, 0), (2, 0.02), (2, 0.3)):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        children.append(process)
        while len(nodes_of(process)) < started:
            time.sleep(0.001)
        time.sleep(pause_s)
        nodes = nodes_of(process)
        os.kill(nodes[0] if killed else process.pid, signal.SIGKILL)
        began = time.monotonic()
        _, errors = process.communicate(timeout=20)
        while any(Path(f"/proc/{node}").exists() for node in nodes):
            time.sleep(0.01)
        assert time.monotonic() - began < DEATH_LIMIT_S
        if killed:
            assert "node 1 was ended by signal 9" in errors


# Looks whether a node has ended take a tenth of a second, so that nodes are killed behind them.
SLOW_LOOKS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int waitid(idtype_t type, id_t id, siginfo_t *found, int options) {
    int (*look)(idtype_t, id_t, siginfo_t *, int) = dlsym(RTLD_NEXT, "waitid");
    const int status = look(type, id, found, options);
    if (!found->si_pid) usleep(100000);
    return status;
}
"""


def test_a_node_that_is_killed_before_its_orders_is_named(
    programs: dict[str, Path], tmp_path: Path, children: list[subprocess.Popen[str]]
) -> None:
    library = tmp_path / "slow_looks.so"
    compiler = ("gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl")
    subprocess.run(compiler, input=SLOW_LOOKS, text=True, check=True)
    command = [str(programs["pages"]), "--nodes=3", "--crowded", point("lu", 64)]
    for pause_s in (0.02, 0.06, 0.1, 0.14, 0.18, 0.25):
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(library)},
        )
        children.append(process)
        while len(nodes_of(process)) < 2:
            time.sleep(0.001)
        time.sleep(pause_s)
        os.kill(nodes_of(process)[0], signal.SIGKILL)
        _, errors = process.communicate(timeout=20)
        assert "node 1 was ended by signal 9" in errors


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.long)])
@pytest.mark.parametrize("build", ["both", "pages"])
def test_sanitizers_find_nothing(tmp_path: Path, build: str, compiler: str) -> None:
    program = built(tmp_path, build, *SANITIZERS, compiler=compiler)
    wanted = ("--nodes=3", "--crowded", point("lu", 48), point("radix", 1536))
    done = kernels.run(program, *wanted)
    assert (done.returncode, done.stderr) == (0, "")
    assert [each["status"] for each in points(done.stdout)] == ["ok", "ok"]


# What a wire may do: frames lost, repeated, out of order, damaged and late, at each node.
RUNS, MANY_RUNS = 30, 1000
LOST_PER_MILLION = 5000
DEADLOCK_S = 20


def built_nodes(folder: Path, name: str, *flags: str) -> Path:
    """The program of dsm_nodes.c: nodes without the kernel's own main."""
    flags = (*(flags or ("-O2",)), *BUILDS[name])
    own = [source for source in SOURCES if source.name != "dsm.c"]
    own += [ROOT / "tests/dsm_nodes.c", KERNELS / "messages/lossy_carrier.c"]
    folders = tuple(f"-I{KERNELS / name}" for name in ("dsm", "messages"))
    objects = kernels.all_compiled(own, *flags, *folders)
    common = kernels.harness(*(flags if "-O1" in flags else ("-O2",)))
    return kernels.linked(folder / f"{name}-nodes", *objects, common, flags=flags)


def survives(program: Path, runs: int, nodes: int, seed: int) -> None:
    """All runs end with the results of one process, although frames were hit in all ways."""
    command = [str(program), *map(str, (runs, nodes, seed, LOST_PER_MILLION))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    counts = {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}
    assert counts.pop("wrong") == 0
    assert all(counts.values()), counts


@pytest.mark.parametrize("build", BUILDS)
def test_results_survive_accidents_of_frames(tmp_path: Path, build: str) -> None:
    program = built_nodes(tmp_path, build)
    survives(program, RUNS, 3, seed=1)
    survives(program, RUNS, 2, seed=2)


@pytest.mark.parametrize("build", ["both", "pages"])
def test_the_thread_sanitizer_finds_nothing(tmp_path: Path, build: str) -> None:
    survives(built_nodes(tmp_path, build, *THREADS), 12, 3, seed=3)


@pytest.mark.long
@pytest.mark.parametrize("build", BUILDS)
def test_results_survive_a_thousand_runs(tmp_path: Path, build: str) -> None:
    survives(built_nodes(tmp_path, build), MANY_RUNS, 3, seed=4)


@pytest.mark.long
@pytest.mark.parametrize("build", ["none", "pages"])
def test_a_deadlock_ends_within_20_seconds(tmp_path: Path, build: str) -> None:
    """Every frame is lost. What the machine adds by being busy is allowed for by a few seconds."""
    command = [str(built_nodes(tmp_path, build)), "1", "3", "1", "1000000"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert time.monotonic() - began < DEADLOCK_S + 5
    assert done.returncode == 1
    assert "heard nothing for 15 s" in done.stderr


ROUNDS = 200


@pytest.mark.parametrize("options", [(), ("--mprotect",)])
def test_words_on_one_page_are_counted_by_the_formula(
    programs: dict[str, Path], options: tuple[str, ...]
) -> None:
    names = ("pages_written_by_several", "pages_fetched", "twins", "diffs", "page_faults_caught")
    for apart, wanted in ((1024, (*(ROUNDS,) * 4, 3 * ROUNDS)), (8192, (*(0,) * 4, 2 * ROUNDS))):
        seen = observed(programs["pages"], *options, point("words", apart))
        assert tuple(seen[name] for name in names) == wanted
        assert seen["apart_bytes"] == apart


@pytest.mark.parametrize("build", BUILDS)
def test_words_of_three_nodes_are_those_of_one(programs: dict[str, Path], build: str) -> None:
    seen = observed(programs[build], "--nodes=3", "--crowded", point("words", 32))
    assert seen["values_verified"] == 24
    if build == "pages":
        assert seen["pages_written_by_several"] == ROUNDS

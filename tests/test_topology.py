"""Topologies that this machine does not have, and the order of pinning on each."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sysfs_trees as trees

from benchbook.core.errors import BenchbookError
from benchbook.host.sysfs import format_cpu_list, libc_sysconf, parse_cpu_list
from benchbook.host.topology import (
    Topology,
    cache_disagreement,
    last_level_of,
    llc_bytes,
    pin,
    pin_order,
    read_topology,
    sysconf_caches,
)

MIB = 1 << 20


@pytest.fixture(scope="module")
def two_sockets(tmp_path_factory: pytest.TempPathFactory) -> Topology:
    return read_topology(trees.epyc().write(tmp_path_factory.mktemp("epyc")))


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-3,8", (0, 1, 2, 3, 8)),
        ("0", (0,)),
        ("", ()),
        ("7,5-6", (5, 6, 7)),
        (None, None),
        ("3-1", None),
        ("a", None),
        ("1,,2", None),
        ("-1", None),
        ("0-9999999999", None),
        ("٣", None),
    ],
)
def test_cpu_lists(text: str | None, cpus: tuple[int, ...] | None) -> None:
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["", "0", "0-1", "0,2,4-6,9"])
def test_cpu_list_round_trip(text: str) -> None:
    cpus = parse_cpu_list(text)
    assert cpus is not None
    assert format_cpu_list(cpus) == text


def test_recorded_guest(tmp_path: Path) -> None:
    machine = read_topology(trees.firecracker().write(tmp_path))
    assert [(c.id, c.core, c.socket, c.node, c.kind, c.max_khz) for c in machine.cpus] == [
        (0, 0, 0, 0, "uniform", None),
        (1, 1, 0, 0, "uniform", None),
    ]
    assert machine.offline == ()
    assert machine.nodes == (0,)
    assert machine.smt is False
    assert len(machine.caches) == 7
    last = machine.caches[-1]
    assert (last.level, last.kind, last.bytes, last.ways) == (3, "unified", 107520 << 10, 15)
    assert (last.line_bytes, last.shared_cpus, last.source) == (64, (0, 1), "sysfs")
    assert llc_bytes(machine, [0]) == llc_bytes(machine, [0, 1]) == 110100480
    assert pin_order(machine) == [1, 0]


def test_one_socket(tmp_path: Path) -> None:
    machine = read_topology(trees.one_socket().write(tmp_path))
    assert {c.max_khz for c in machine.cpus} == {3_800_000}
    assert llc_bytes(machine, [1, 2]) == 6 * MIB
    assert pin_order(machine) == pin_order(machine, place="spread") == [1, 2, 3, 0]


def test_two_sockets(two_sockets: Topology) -> None:
    assert len(two_sockets.cpus) == 256
    assert len({c.core for c in two_sockets.cpus}) == 128
    assert two_sockets.smt is True
    assert two_sockets.nodes == (0, 1)
    cpu = two_sockets.cpus[200]
    assert (cpu.id, cpu.core, cpu.socket, cpu.node) == (200, 72, 1, 1)


def test_last_level_caches_add_up_over_those_in_use(two_sockets: Topology) -> None:
    assert llc_bytes(two_sockets, [0]) == 32 * MIB
    assert llc_bytes(two_sockets, [0, 7, 128]) == 32 * MIB  # one group, and a sibling
    assert llc_bytes(two_sockets, [0, 8]) == 64 * MIB
    assert llc_bytes(two_sockets, [c.id for c in two_sockets.cpus]) == 512 * MIB


def test_compact_fills_the_socket_without_cpu_0_first(two_sockets: Topology) -> None:
    order = pin_order(two_sockets)
    assert order[:64] == list(range(64, 128))
    assert order[64:72] == list(range(8, 16))
    assert order[120:128] == [1, 2, 3, 4, 5, 6, 7, 128]  # core 0 through its other thread
    assert order[128:136] == list(range(192, 200))
    assert order[-1] == 0
    assert sorted(order) == list(range(256))


def test_spread_takes_sockets_and_caches_in_turn(two_sockets: Topology) -> None:
    order = pin_order(two_sockets, place="spread")
    facts = {c.id: c for c in two_sockets.cpus}
    assert [facts[i].socket for i in order[:8]] == [1, 0] * 4
    last = last_level_of(two_sockets)
    assert len({last[i] for i in order[:16]}) == 16
    assert len({facts[i].core for i in order[:128]}) == 128
    assert order[127] == 128
    assert order[-1] == 0


def test_cpu_0_is_last_beside_a_larger_socket(tmp_path: Path) -> None:
    root = trees.epyc(2, 4, 1).write(tmp_path)
    machine = read_topology(root, affinity=[0, 1, 4, 5, 6, 7])
    assert pin_order(machine, place="spread") == [4, 1, 5, 6, 7, 0]
    assert pin_order(machine) == [4, 5, 6, 7, 1, 0]


def test_cores_before_threads_on_one_socket(tmp_path: Path) -> None:
    machine = read_topology(trees.epyc(1, 4, 2).write(tmp_path))
    assert pin_order(machine) == [1, 2, 3, 4, 5, 6, 7, 0]


def test_single_core_keeps_cpu_0_first(tmp_path: Path) -> None:
    machine = read_topology(trees.epyc(1, 1, 2).write(tmp_path))
    assert pin_order(machine) == [0, 1]
    assert machine.smt is True


def test_hybrid(tmp_path: Path) -> None:
    machine = read_topology(trees.hybrid().write(tmp_path))
    kinds = {c.id: c.kind for c in machine.cpus}
    assert {kinds[i] for i in range(16)} == {"performance"}
    assert {kinds[i] for i in range(16, 24)} == {"efficiency"}
    big, small = [2, 4, 6, 8, 10, 12, 14, 1], list(range(16, 24))
    further = [3, 5, 7, 9, 11, 13, 15, 0]
    assert pin_order(machine) == big + small + further
    assert pin_order(machine, prefer="efficiency") == small + big + further
    levels = [c for c in machine.caches if c.level == 2]
    assert sorted(c.bytes or 0 for c in levels) == [1280 << 10] * 8 + [2048 << 10] * 2
    assert llc_bytes(machine, [2, 16]) == 30 * MIB


def test_capacity_tells_big_from_little(tmp_path: Path) -> None:
    machine = read_topology(trees.big_little().write(tmp_path))
    assert [c.kind for c in machine.cpus] == ["efficiency"] * 4 + ["performance"] * 2
    assert pin_order(machine) == [4, 5, 1, 2, 3, 0]


def test_nearly_equal_capacities_are_one_kind(tmp_path: Path) -> None:
    tree = trees.arm(2)
    tree.files = {f"{trees.CPU_DIR}/cpu{i}/cpu_capacity": str(1024 - 15 * i) for i in range(2)}
    assert {c.kind for c in read_topology(tree.write(tmp_path)).cpus} == {"uniform"}


def test_offline_cores(tmp_path: Path) -> None:
    tree = trees.epyc(1, 4, 2)
    tree.offline = frozenset({2, 5})
    machine = read_topology(tree.write(tmp_path))
    assert machine.offline == (2, 5)
    assert [c.id for c in machine.cpus] == [0, 1, 3, 4, 6, 7]
    assert {c.id: c.core for c in machine.cpus} == {0: 0, 4: 0, 1: 1, 3: 3, 7: 3, 6: 6}
    assert pin_order(machine) == [1, 3, 6, 4, 7, 0]
    trees.put(tmp_path, f"{trees.CPU_DIR}/cpu6/topology/core_cpus_list", "2,6")
    assert {c.id: c.core for c in read_topology(tmp_path).cpus}[6] == 6  # 2 is not online


@pytest.mark.parametrize("given", [True, False])
def test_cpuset(tmp_path: Path, given: bool) -> None:
    tree = trees.epyc(1, 16, 2)
    tree.files["proc/self/status"] = "Name:\tpython\nCpus_allowed_list:\t8-9,24"
    machine = read_topology(tree.write(tmp_path), affinity=[8, 9, 24, 99] if given else None)
    assert [c.id for c in machine.cpus] == [8, 9, 24]
    assert len(machine.online) == 32
    assert machine.offline == ()
    assert pin(machine, 3) == [8, 9, 24]
    assert llc_bytes(machine, [8, 24]) == 32 * MIB
    with pytest.raises(BenchbookError, match=r"cpuset .* 3 of 32 online CPUs \(8-9,24\)"):
        pin(machine, 4)


@pytest.mark.parametrize("threads", [0, -1])
def test_pinning_no_thread_is_refused(tmp_path: Path, threads: int) -> None:
    with pytest.raises(BenchbookError):
        pin(read_topology(trees.one_socket().write(tmp_path)), threads)


def test_arm_without_cache_files_is_unknown(tmp_path: Path) -> None:
    root = trees.arm().write(tmp_path)
    for sysconf in (None, lambda name: 0, lambda name: None):
        machine = read_topology(root, sysconf=sysconf)
        assert machine.caches == ()
        assert llc_bytes(machine, [0, 1]) is None
    assert pin(machine, 4) == [1, 2, 3, 0]


def test_sysconf_is_the_fallback_and_says_so(tmp_path: Path) -> None:
    said = {"LEVEL1_DCACHE_SIZE": 65536, "LEVEL3_CACHE_SIZE": 32 * MIB, "LEVEL3_CACHE_ASSOC": 16}
    machine = read_topology(trees.arm().write(tmp_path), sysconf=said.get)
    assert [(c.level, c.kind, c.bytes, c.ways) for c in machine.caches] == [
        (1, "data", 65536, None),
        (3, "unified", 32 * MIB, 16),
    ]
    assert {c.source for c in machine.caches} == {"sysconf"}
    assert {c.shared_cpus for c in machine.caches} == {None}
    assert llc_bytes(machine, [0, 1]) == 32 * MIB  # counted once: nobody says who shares it


def test_sizeless_cache_folder_takes_the_size_of_libc(tmp_path: Path) -> None:
    root = trees.one_socket().write(tmp_path)
    for file in root.glob(f"{trees.CPU_DIR}/cpu*/cache/index2/size"):
        file.unlink()
    assert llc_bytes(read_topology(root), [0]) is None
    machine = read_topology(root, sysconf={"LEVEL3_CACHE_SIZE": 6 * MIB}.get)
    assert llc_bytes(machine, [0]) == 6 * MIB
    assert [c.source for c in machine.caches if c.level == 3] == ["sysconf"]


def test_three_sources_that_disagree(tmp_path: Path) -> None:
    tree = trees.epyc(1, 2, 1)
    machine = read_topology(tree.write(tmp_path), sysconf={"LEVEL3_CACHE_SIZE": 512 * MIB}.get)
    sysfs = llc_bytes(machine, [0])
    sysconf = sysconf_caches({"LEVEL3_CACHE_SIZE": 512 * MIB}.get)[-1].bytes
    assert (sysfs, sysconf) == (32 * MIB, 512 * MIB)  # sysfs first
    found = cache_disagreement(sysfs, sysconf, 384 * MIB)
    assert found == [("sysfs", "knee", 12.0), ("sysfs", "sysconf", 16.0)]


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ((32, 64, 33), 0),  # twice is not over twice
        ((32, 65, None), 1),
        ((None, None, 8), 0),
        ((0, 8, 8), 0),  # 0 says nothing
        ((1, 3, 9), 3),
    ],
)
def test_disagreement(sizes: tuple[int | None, int | None, int | None], count: int) -> None:
    assert len(cache_disagreement(*sizes)) == count


def test_hidden_sysfs_falls_back_to_cpuinfo(tmp_path: Path) -> None:
    trees.put(tmp_path, "proc/cpuinfo", "processor\t: 0\nflags\t: lm\n\nprocessor\t: 1\n")
    machine = read_topology(tmp_path)
    assert [(c.id, c.core, c.socket, c.node) for c in machine.cpus] == [
        (0, 0, None, None),
        (1, 1, None, None),
    ]
    assert machine.smt is None
    assert pin(machine, 2) == [1, 0]


def test_nothing_at_all(tmp_path: Path) -> None:
    machine = read_topology(tmp_path)
    assert (machine.cpus, machine.caches, machine.nodes, machine.offline) == ((), (), (), ())
    assert pin_order(machine) == []
    assert llc_bytes(machine, []) is None
    with pytest.raises(BenchbookError):
        pin(machine, 1)


@pytest.mark.parametrize("junk", [*trees.GARBAGE, None])
def test_garbled_files_never_raise(tmp_path: Path, junk: bytes | None) -> None:
    root = trees.hybrid().write(tmp_path)
    for file in trees.one_of_each_name(root):
        with trees.garbled(file, junk):
            machine = read_topology(root)
            assert sorted(pin_order(machine)) == [c.id for c in machine.cpus]
            assert all(cache.bytes != 0 for cache in machine.caches)
            assert llc_bytes(machine, [c.id for c in machine.cpus]) != 0


def test_garbled_values_are_unknown(tmp_path: Path) -> None:
    root = trees.one_socket().write(tmp_path)
    base = root / trees.CPU_DIR / "cpu1"
    for name in ("cpufreq/cpuinfo_max_freq", "topology/physical_package_id", "cache/index0/size"):
        (base / name).write_text("banana\n")
    (base / "cache/index1/size").write_text("0K\n")
    (base / "cache/index0/ways_of_associativity").write_text("0\n")  # the kernel's "not known"
    machine = read_topology(root)
    assert (machine.cpus[1].max_khz, machine.cpus[1].socket) == (None, None)
    (cache,) = [c for c in machine.caches if c.level == 1 and c.shared_cpus == (1,)]
    assert (cache.bytes, cache.ways, cache.line_bytes) == (None, None, 64)
    assert [c.bytes for c in machine.caches if c.level == 2 and c.shared_cpus == (1,)] == [None]


def test_this_machine() -> None:
    machine = read_topology()
    assert {c.id for c in machine.cpus} == os.sched_getaffinity(0)
    assert sorted(pin_order(machine)) == sorted(os.sched_getaffinity(0))
    assert all(c.bytes != 0 for c in machine.caches)
    size = llc_bytes(machine, [machine.cpus[0].id])
    assert size is None or size > 2**18
    assert libc_sysconf("LEVEL1_DCACHE_LINESIZE") in (None, 32, 64, 128, 256)
    assert libc_sysconf("NO_SUCH_NAME") is None


LIKWID_UNITS = {"kB": 2**10, "MB": 2**20}  # it says so, and means powers of two


@pytest.mark.skipif(shutil.which("likwid-topology") is None, reason="likwid-topology is absent")
def test_likwid_sees_the_same_caches_and_processors() -> None:
    """Somebody else's reading of this very machine."""
    told = subprocess.run(
        ["likwid-topology"], capture_output=True, text=True, check=False, timeout=300
    ).stdout
    caches = re.findall(r"^Level:\s+(\d)\nSize:\s+(\d+) (kB|MB)$", told, flags=re.MULTILINE)
    if not caches or len(caches) != told.count("\nLevel:"):
        pytest.skip("likwid-topology tells the caches of this processor in another way")
    ours = read_topology()
    from_sysfs = {
        (cache.level, cache.bytes)
        for cache in ours.caches
        if cache.kind != "instruction" and cache.source == "sysfs"
    }
    if from_sysfs:
        theirs = {(int(level), int(size) * LIKWID_UNITS[unit]) for level, size, unit in caches}
        assert theirs == from_sysfs
    counts = [
        int(number)
        for number in re.findall(r"^(?:Sockets|.* per \w+):\s+(\d+)$", told, flags=re.MULTILINE)
    ]
    assert math.prod(counts) == len(ours.online)

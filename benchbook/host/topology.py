"""CPUs, caches and NUMA nodes of a host from sysfs, and the order in which threads are pinned.

Everything is read below `root`, so that a folder of fixtures stands in for a machine. A file that
is absent, unreadable or garbled makes a value None (unknown): never 0, never an exception.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from operator import eq
from pathlib import Path
from typing import Literal

from benchbook.core.errors import BenchbookError
from benchbook.host.sysfs import (
    CACHE_LEVELS,
    ROOT,
    Sysconf,
    format_cpu_list,
    libc_sysconf,
    parse_cpu_list,
    read_int,
    read_text,
)

CPUS = "sys/devices/system/cpu"
Kind = Literal["performance", "efficiency", "uniform", "unknown"]  # of a core
Place = Literal["compact", "spread"]

_RANK: dict[Kind, int] = {"performance": 0, "uniform": 1, "efficiency": 2, "unknown": 3}


@dataclass(frozen=True)
class Cpu:
    """An online CPU (hardware thread); `core` is the lowest CPU id of its core."""

    id: int
    core: int
    socket: int | None
    node: int | None
    kind: Kind
    max_khz: int | None


@dataclass(frozen=True)
class Cache:
    """One cache; `shared_cpus` are the online CPUs that share it, None where nothing says."""

    level: int
    kind: str  # data, instruction or unified
    bytes: int | None
    ways: int | None
    line_bytes: int | None
    shared_cpus: tuple[int, ...] | None
    source: Literal["sysfs", "sysconf", "hwloc"]


@dataclass(frozen=True)
class Topology:
    """The CPUs in use are taken from `cpus`: online and in the affinity mask (or cpuset)."""

    cpus: tuple[Cpu, ...]
    online: tuple[Cpu, ...]  # usable or not
    offline: tuple[int, ...]  # present but switched off
    caches: tuple[Cache, ...]
    nodes: tuple[int, ...]  # online NUMA nodes, also those without a CPU
    smt: bool | None  # two online CPUs share a core


def read_topology(
    root: Path = ROOT, affinity: Iterable[int] | None = None, sysconf: Sysconf | None = None
) -> Topology:
    """Read the machine below `root`.

    `affinity` None: the mask of this process at the real root, else the fixture's
    proc/self/status. `sysconf` None: libc at the real root, else nothing.
    """
    base = root / CPUS
    if affinity is None:
        affinity = os.sched_getaffinity(0) if root == ROOT else _status_cpus(root)
    allowed = None if affinity is None else set(affinity)
    ids = parse_cpu_list(read_text(base / "online") or None)
    if ids is None:  # some containers hide sysfs
        text = read_text(root / "proc/cpuinfo") or ""
        ids = parse_cpu_list(",".join(re.findall(r"(?m)^processor\s*:\s*(\d+)\s*$", text)) or None)
    ids = tuple(sorted(allowed or ())) if ids is None else ids
    node_of, nodes = _nodes(root)
    kinds = _kinds(root, ids)
    sockets = {i: _number(base / f"cpu{i}/topology/physical_package_id", 0) for i in ids}
    cores = _cores(base, ids, sockets)
    top_khz = {i: _number(base / f"cpu{i}/cpufreq/cpuinfo_max_freq", 1) for i in ids}
    online = tuple(
        Cpu(i, cores.get(i, i), sockets[i], node_of.get(i), kinds[i], top_khz[i]) for i in ids
    )
    ask = sysconf or (libc_sysconf if root == ROOT else None)
    return Topology(
        cpus=tuple(cpu for cpu in online if allowed is None or cpu.id in allowed),
        online=online,
        offline=tuple(sorted(set(parse_cpu_list(read_text(base / "present")) or ()) - set(ids))),
        caches=_caches(base, ids, ask),
        nodes=nodes,
        smt=len(set(cores.values())) < len(cores) if cores else None,
    )


def _status_cpus(root: Path) -> tuple[int, ...] | None:
    match = re.search(r"Cpus_allowed_list:\s*(\S+)", read_text(root / "proc/self/status") or "")
    return parse_cpu_list(match[1]) if match else None


def _nodes(root: Path) -> tuple[dict[int, int], tuple[int, ...]]:
    base = root / "sys/devices/system/node"
    nodes = parse_cpu_list(read_text(base / "online")) or ()
    lists = {n: parse_cpu_list(read_text(base / f"node{n}/cpulist")) or () for n in nodes}
    return {cpu: n for n, cpus in lists.items() for cpu in cpus}, nodes


def _number(path: Path, least: int) -> int | None:
    value = read_int(path)  # the kernel writes -1 or 0 for what the firmware does not say
    return None if value is None or value < least else value


def _kinds(root: Path, ids: Sequence[int]) -> dict[int, Kind]:
    named: dict[int, Kind] = {}
    for pmu in ("cpu_core", "cpu_atom", "cpu_lowpower"):
        for cpu in parse_cpu_list(read_text(root / "sys/devices" / pmu / "cpus")) or ():
            named[cpu] = "performance" if pmu == "cpu_core" else "efficiency"
    if named:
        return {i: named.get(i, "unknown") for i in ids}
    capacity = {i: read_int(root / CPUS / f"cpu{i}/cpu_capacity") or 0 for i in ids}
    largest = max(capacity.values(), default=0)
    # Favoured cores of one design differ by a few per cent, big and little ones by half.
    if not all(capacity.values()) or min(capacity.values(), default=0) >= 0.8 * largest:
        return dict.fromkeys(ids, "uniform")
    return {i: "performance" if c >= 0.8 * largest else "efficiency" for i, c in capacity.items()}


def _cores(base: Path, ids: Sequence[int], sockets: dict[int, int | None]) -> dict[int, int]:
    cores: dict[int, int] = {}
    first: dict[tuple[int | None, int], int] = {}
    for i in ids:
        folder = base / f"cpu{i}/topology"
        listed = read_text(folder / "core_cpus_list") or read_text(folder / "thread_siblings_list")
        siblings = set(parse_cpu_list(listed) or ()) & set(ids)
        if i in siblings:
            cores[i] = min(siblings)
        elif (core_id := _number(folder / "core_id", 0)) is not None:
            cores[i] = first.setdefault((sockets[i], core_id), i)
    return cores


def _caches(base: Path, ids: Sequence[int], ask: Sysconf | None) -> tuple[Cache, ...]:
    caches: dict[tuple[int, str, tuple[int, ...] | None], Cache] = {}
    for folder in chain.from_iterable(sorted(base.glob(f"cpu{i}/cache/index*")) for i in ids):
        level = read_int(folder / "level")
        kind = (read_text(folder / "type") or "").lower()
        if level is None or kind not in ("data", "instruction", "unified"):
            continue
        shared = parse_cpu_list(read_text(folder / "shared_cpu_list") or None)
        if (level, kind, shared) not in caches:
            size = re.fullmatch(r"([0-9]{1,12})([KMG]?)", read_text(folder / "size") or "")
            count = int(size[1]) << 10 * " KMG".index(size[2] or " ") if size else None
            ways = _number(folder / "ways_of_associativity", 1)
            line = _number(folder / "coherency_line_size", 1)
            cache = Cache(level, kind, count or None, ways, line, shared, "sysfs")
            caches[level, kind, shared] = cache
    libc = {(c.level, c.kind): c for c in sysconf_caches(ask)}
    if not any(c.kind != "instruction" for c in caches.values()):
        return tuple(libc.values())
    # A size that sysfs leaves out is libc's; a level that sysfs leaves out stays out: sysfs first.
    return tuple(
        replace(c, bytes=libc[c.level, c.kind].bytes, source="sysconf")
        if c.bytes is None and (c.level, c.kind) in libc
        else c
        for _, c in sorted(caches.items(), key=lambda item: (item[0][:2], item[0][2] or ()))
    )


def sysconf_caches(ask: Sysconf | None = libc_sysconf) -> tuple[Cache, ...]:
    """The caches that libc believes in, lowest level first; it does not say who shares them."""
    if ask is None:
        return ()
    caches = []
    for name in CACHE_LEVELS:
        size, ways, line = (ask(f"{name}_{what}") or None for what in ("SIZE", "ASSOC", "LINESIZE"))
        kind = {"I": "instruction", "D": "data"}.get(name[7], "unified")
        if size:
            caches.append(Cache(int(name[5]), kind, size, ways, line, None, "sysconf"))
    return tuple(caches)


def last_level_of(topology: Topology) -> dict[int, Cache]:
    """The last data cache before memory of each online CPU; CPUs without a known one are absent."""
    everyone = tuple(cpu.id for cpu in topology.online)
    by_cpu: dict[int, Cache] = {}
    for cache in sorted(topology.caches, key=lambda c: c.level):
        if cache.kind != "instruction":
            by_cpu |= dict.fromkeys(cache.shared_cpus or everyone, cache)
    return by_cpu


def llc_bytes(topology: Topology, cpus: Iterable[int]) -> int | None:
    """Bytes of last-level cache that these CPUs have together; None (never 0) when unknown.

    Where the sharing is unknown (source sysconf) one cache is counted: it may be too little.
    """
    last = last_level_of(topology)
    sizes = [cache and cache.bytes for cache in {last.get(cpu) for cpu in cpus}]
    return None if None in sizes else sum(size for size in sizes if size) or None


def cache_disagreement(
    sysfs: int | None, sysconf: int | None, knee: int | None
) -> list[tuple[str, str, float]]:
    """Pairs of sources whose bytes of one last-level cache are over 2x apart.

    Each is (smaller, larger, factor); a source that is None or 0 says nothing.
    """
    named = {"sysfs": sysfs, "sysconf": sysconf, "knee": knee}
    ordered = sorted((size, name) for name, size in named.items() if size and size > 0)
    return [(a, b, y / x) for (x, a), (y, b) in combinations(ordered, 2) if y > 2 * x]


def pin_order(
    topology: Topology, prefer: Kind = "performance", place: Place = "compact"
) -> list[int]:
    """Usable CPU ids in the order in which threads take them.

    One CPU per core before further hardware threads; among those the preferred kind first;
    `compact` fills a last-level cache, then a node, then a socket, `spread` takes them in turn.
    CPU 0 takes most interrupts, so where there are other cores its socket, node, cache and core
    come last, and its core is entered through its other hardware thread.
    """
    last = last_level_of(topology)
    paths: dict[int, tuple[Hashable, ...]] = {
        cpu.id: (cpu.socket, cpu.node, last.get(cpu.id), cpu.core) for cpu in topology.cpus
    }
    zero = paths.get(0, ()) if len({cpu.core for cpu in topology.cpus}) > 1 else ()
    keys: dict[int, tuple[object, ...]] = {}
    seen: dict[tuple[Hashable, ...], dict[Hashable, int]] = {}
    late = {i: (*map(eq, path, zero), bool(zero) and i == 0, i) for i, path in paths.items()}
    for cpu in sorted(topology.cpus, key=lambda c: late[c.id]):
        path, where = (*paths[cpu.id], cpu.id), []
        for depth, value in enumerate(path):  # place in its group, CPU 0's last
            group = seen.setdefault(path[:depth], {})
            where.append(group.setdefault(value, len(group)))
        turn, kind = where.pop(), (cpu.kind != prefer, _RANK[cpu.kind])
        core0 = paths[cpu.id] == zero
        keys[cpu.id] = (turn, kind, core0, where if place == "compact" else where[::-1])
    return sorted(keys, key=keys.__getitem__)


def pin(
    topology: Topology, threads: int, prefer: Kind = "performance", place: Place = "compact"
) -> list[int]:
    """CPU ids for `threads` threads, in `pin_order`.

    Raises BenchbookError for less than one thread or more threads than usable CPUs.
    """
    order = pin_order(topology, prefer, place)
    if not 1 <= threads <= len(order):
        raise BenchbookError(
            f"{threads} threads cannot be pinned: the cpuset of this process has {len(order)} of "
            f"{len(topology.online)} online CPUs ({format_cpu_list(order)}). Ask for 1 to "
            f"{len(order)} threads, or start it with a wider cpuset (taskset, --cpuset-cpus)"
        )
    return order[:threads]

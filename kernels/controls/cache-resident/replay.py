"""Machines whose last-level caches are of other sizes and numbers than those at hand: work that
fits, or a part of it, and work that does not."""

import random
from typing import Any

from benchbook.controls.replays import Scene

MIB = 2**20
# Bytes of a cache, cores that share it, and how many there are.
MACHINES = (
    (6 * MIB, 4, 1),
    (12 * MIB, 6, 1),
    (16 * MIB, 4, 8),
    (32 * MIB, 8, 2),
    (38 * MIB, 28, 2),
    (105 * MIB, 56, 2),
    (480 * MIB, 96, 1),
)
Point = dict[str, Any]


def scenes(seed: int) -> list[Scene]:
    """On one core, on one core of each cache, and on all; then as much larger as STREAM asks for,
    and a little more than the cache of which nothing stays there."""
    dice = random.Random(seed)
    size, cores, caches = dice.choice(MACHINES)
    host, some, every = _host(size, cores, caches), min(caches, 2), cores * caches
    total = size * caches
    crowd = min(every, 8)
    return [
        _scene(True, host, _point(dice, "one core", 0.05, size)),
        _scene(True, host, _point(dice, "nearly full", 0.45, size)),
        _scene(True, host, _point(dice, "all cores", 0.3, total, threads=every)),
        _scene(True, host, _point(dice, "processes", 0.2, size / crowd, processes=crowd)),
        _scene(
            True,
            host,
            _point(dice, "a part stays", 0.8, size, faster=dice.uniform(1.2, 3)),
            _point(dice, "nothing stays", 6, size),
        ),
        _scene(False, host, _point(dice, "one core", 4.1, size)),
        _scene(False, host, _point(dice, "all cores", 4.5, total, threads=every)),
        _scene(False, host, _point(dice, "some cores", 5, some * size, threads=some)),
        _scene(False, host, _point(dice, "processes", 4.2, total / crowd, processes=crowd)),
        _scene(
            False,
            host,
            _point(dice, "nothing stays either", 2, size),
            _point(dice, "nothing stays", 8, size),
        ),
    ]


def _host(size: int, cores: int, caches: int) -> dict[str, Any]:
    """The CPUs come first by cache, so that those of few threads lie in different ones."""
    shared = [list(range(first_cpu, caches * cores, caches)) for first_cpu in range(caches)]
    return {
        "cpus": list(range(caches * cores)),
        "caches": [
            {"level": 3, "kind": "unified", "bytes": size, "shared_cpus": own} for own in shared
        ],
        "total_llc_bytes": size * caches,
        "llc_sysfs_bytes": size,
    }


def _scene(provoked: bool, host: dict[str, Any], *points: Point) -> Scene:
    return Scene(provoked=provoked, points=list(points), host=host)


def _point(
    dice: random.Random,
    where: str,
    share: float,
    cache: float,
    *,
    threads: int = 1,
    processes: int = 1,
    faster: float = 1.0,
) -> Point:
    """A copy between two arrays of a share of the cache each."""
    array = int(share * cache * dice.uniform(1, 1.05)) // 64 * 64
    return {
        "where": where,
        "series": "copy",
        "bytes": array,
        "buffers_bytes": 2 * array * processes,
        "bytes_per_call": 2.0 * array * processes,
        "time_ns": 2 * array * processes / 10 / faster * dice.uniform(0.99, 1.01),
        "threads": threads,
        "processes": processes,
    }

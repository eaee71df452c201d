"""The caches that are simulated: this host's first level, and its last level made smaller.

The last level keeps its ways and its lines and has fewer sets, so that small buffers are larger
than it. cachegrind takes only whole powers of two of sets: the nearest are taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchbook.host.topology import Cache, Topology

LL_LEAST_BYTES = 256 << 10
L1_IN_LL = 4  # the last level holds that many of the first
BUFFER_IN_LL = 4  # and a buffer is that many of the last
SCRATCH_BYTES = 4 << 20  # what kernels/simulation/calls.c empties the caches with
# Where a host does not say: what most have.
_USUAL = {"instruction": (32 << 10, 8), "data": (32 << 10, 8), "last": (0, 16)}
_LINE_BYTES = 64


@dataclass(frozen=True)
class Level:
    """One simulated cache."""

    bytes: int
    ways: int
    line_bytes: int

    def __str__(self) -> str:
        return f"{self.bytes},{self.ways},{self.line_bytes}"


@dataclass(frozen=True)
class Geometry:
    """The simulated caches; `host` tells in words what the machine itself has."""

    i1: Level
    d1: Level
    ll: Level
    host: str

    @property
    def options(self) -> list[str]:
        """The caches as options of cachegrind's command line."""
        return [f"--I1={self.i1}", f"--D1={self.d1}", f"--LL={self.ll}"]

    @property
    def buffer_bytes(self) -> int:
        """Bytes of each buffer: the power of two that holds the last level often enough."""
        return 1 << math.ceil(math.log2(BUFFER_IN_LL * self.ll.bytes))

    @property
    def block_most_bytes(self) -> int:
        """Bytes of the largest block of which two stay in the last level until used again."""
        return self.ll.bytes // 4


def geometry_of(topology: Topology, cpu: int) -> Geometry:
    """The caches of one CPU as they are simulated."""
    first = [_seen(topology, cpu, kind, 1) for kind in ("instruction", "data")]
    last = _last(topology, cpu)
    i1, d1 = (
        _fitted(cache, *_USUAL[kind])
        for cache, kind in zip(first, ("instruction", "data"), strict=True)
    )
    wanted = max(LL_LEAST_BYTES, L1_IN_LL * d1.bytes)
    ll = _fitted(last, *_USUAL["last"], wanted=min(wanted, SCRATCH_BYTES // BUFFER_IN_LL))
    words = [f"{name} {_words(cache)}" for name, cache in (("D1", first[1]), ("LL", last))]
    return Geometry(i1, d1, ll, ", ".join(words))


def _seen(topology: Topology, cpu: int, kind: str, level: int) -> Cache | None:
    return next(
        (
            cache
            for cache in topology.caches
            if cache.level == level
            and cache.kind in (kind, "unified")
            and (cache.shared_cpus is None or cpu in cache.shared_cpus)
        ),
        None,
    )


def _last(topology: Topology, cpu: int) -> Cache | None:
    levels = sorted({cache.level for cache in topology.caches}, reverse=True)
    seen = (_seen(topology, cpu, "data", level) for level in levels)
    return next((cache for cache in seen if cache is not None), None)


def _fitted(cache: Cache | None, usual: int, usual_ways: int, wanted: int = 0) -> Level:
    """The nearest cache that has whole powers of two of sets and of bytes in a line."""
    size = wanted or (cache and cache.bytes) or usual
    ways = (cache and cache.ways) or usual_ways
    line = 1 << round(math.log2((cache and cache.line_bytes) or _LINE_BYTES))
    sets = 1 << max(0, round(math.log2(size / (ways * line))))
    return Level(ways * line * sets, ways, line)


def _words(cache: Cache | None) -> str:
    if cache is None or cache.bytes is None:
        return "of unknown size"
    ways = f" of {cache.ways} ways" if cache.ways else ", ways unknown"
    return f"{cache.bytes} bytes{ways}"

"""How much cache the cores of a point have."""

from __future__ import annotations

from typing import Any

from benchbook.detect import Row
from benchbook.detect.inputs.thresholds import BEYOND
from benchbook.detect.inputs.timed_work import cores_of, used_bytes


def cache_in_use(row: Row, host: dict[str, Any]) -> float | None:
    """Bytes of last-level cache that the cores of a point can use at most; None if unknown.

    Those that the CPUs share which it was given; where that is not known, as many as it has cores.
    """
    used = _caches_of((host.get("cpus") or [])[: int(cores_of(row))], host.get("caches") or [])
    total, last_level = host.get("total_llc_bytes"), host.get("llc_sysfs_bytes")
    if used:
        return used
    if not total:
        return float(last_level) if last_level else None
    return float(min(total, cores_of(row) * last_level) if last_level else total)


def is_beyond_caches(row: Row, host: dict[str, Any]) -> bool:
    """Whether its buffers surely do not fit in all last-level caches; False where one of both is
    unknown."""
    held, used = host.get("total_llc_bytes"), used_bytes(row)
    return held is not None and used is not None and used >= BEYOND * held


def _caches_of(cpus: list[int], caches: list[dict[str, Any]]) -> float | None:
    """Bytes of the distinct last-level caches of these CPUs; None where one is not known."""
    data = [cache for cache in caches if cache.get("kind") != "instruction"]
    if any(not cache.get("shared_cpus") or not cache.get("bytes") for cache in data):
        return None
    last: dict[tuple[int, ...], float] = {}
    for cpu in cpus:
        own = [cache for cache in data if cpu in cache["shared_cpus"]]
        if not own:
            return None
        highest = max(own, key=lambda cache: cache["level"])
        last[tuple(sorted(highest["shared_cpus"]))] = float(highest["bytes"])
    return sum(last.values()) or None

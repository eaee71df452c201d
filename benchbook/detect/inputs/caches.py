"""How much cache the cores of a point have."""

from __future__ import annotations

from typing import Any

from benchbook.detect import Row
from benchbook.detect.inputs.timed_work import cores_of


def cache_in_use(row: Row, host: dict[str, Any]) -> float | None:
    """Bytes of last-level cache that the cores of a point can use at most; None if unknown.

    Those that the CPUs share which it was given; where that is not known, as many as it has cores.
    """
    used = _caches_of((host.get("cpus") or [])[: int(cores_of(row))], host.get("caches") or [])
    total, one = host.get("total_llc_bytes"), host.get("llc_sysfs_bytes")
    if used:
        return used
    if not total:
        return float(one) if one else None
    return float(min(total, cores_of(row) * one) if one else total)


def _caches_of(cpus: list[int], caches: list[dict[str, Any]]) -> float | None:
    """Bytes of the distinct last-level caches of these CPUs; None where one is not known."""
    data = [one for one in caches if one.get("kind") != "instruction"]
    if any(not one.get("shared_cpus") or not one.get("bytes") for one in data):
        return None
    last: dict[tuple[int, ...], float] = {}
    for cpu in cpus:
        own = [one for one in data if cpu in one["shared_cpus"]]
        if not own:
            return None
        highest = max(own, key=lambda one: one["level"])
        last[tuple(sorted(highest["shared_cpus"]))] = float(highest["bytes"])
    return sum(last.values()) or None

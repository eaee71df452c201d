"""Hosts whose kernel, C library and size sweep name the last cache: some of them do not agree."""

import random
from typing import Any

from benchbook.controls.replays import Scene

KIB, MIB = 2**10, 2**20
SIZES = [n * MIB for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)]


def scenes(seed: int) -> list[Scene]:
    """The C library is wrong, the container hides most of the cache, the kernel is wrong; then
    hosts that agree, with a sweep and without one."""
    dice = random.Random(seed)
    size = dice.choice((16, 32, 64)) * MIB
    times = dice.choice((4, 8, 12, 16))
    return [
        # Guests whose C library adds up the caches of the whole socket.
        _scene(dice, True, sysfs=size, sysconf=times * size, knee=None),
        _scene(dice, True, sysfs=size, sysconf=times * size, knee=size),
        # A slice of the cache: both read the hardware's word, the sweep falls long before.
        _scene(dice, True, sysfs=size, sysconf=size, knee=size // 8),
        # A guest that is told less than it has.
        _scene(dice, True, sysfs=size // 8, sysconf=None, knee=size),
        _scene(dice, False, sysfs=size, sysconf=size, knee=size),
        _scene(dice, False, sysfs=size, sysconf=size, knee=None),
        _scene(dice, False, sysfs=size, sysconf=None, knee=size),
        _scene(dice, False, sysfs=size + size // 2, sysconf=size, knee=size),
    ]


def _scene(
    dice: random.Random, provoked: bool, *, sysfs: int | None, sysconf: int | None, knee: int | None
) -> Scene:
    points = [] if knee is None else _sweep(dice, knee)
    return Scene(
        provoked=provoked,
        points=points or [_point(dice, "single", 512 * MIB, 10.0)],
        host={
            "llc_sysfs_bytes": sysfs,
            "llc_sysconf_bytes": sysconf,
            "smaller_caches_bytes": [32 * KIB, 512 * KIB],
        },
    )


def _sweep(dice: random.Random, knee: int) -> list[dict[str, Any]]:
    """Rates of a sweep that falls once, where the working set no longer fits."""
    inside, outside = dice.uniform(30, 60), dice.uniform(8, 15)
    return [_point(dice, f"at {size}", size, inside if size <= knee else outside) for size in SIZES]


def _point(dice: random.Random, where: str, size: int, rate: float) -> dict[str, Any]:
    return {
        "where": where,
        "series": "sweep",
        "bytes": size // 2,
        "working_set_bytes": size,
        "bytes_per_call": float(size),
        "time_ns": size / rate * dice.uniform(0.97, 1.03),
    }

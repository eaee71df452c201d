"""Sweeps of messages by size, with a threshold in them, with two, with one past their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.messages import point, scene

SIZES = (256, 1024, 4096, 16384, 65536)
NEVER = 1 << 30
# Thresholds of the sweeps in a scene, and how much asking first costs in ns.
KINDS: tuple[tuple[tuple[int, ...], float], ...] = (
    ((4096,), 30_000),
    ((4096, 16384), 30_000),
    ((16384,), 0),
    ((NEVER,), 30_000),
    ((NEVER, NEVER), 0),
)


def scenes(seed: int) -> list[Scene]:
    """One of each kind: those with a threshold within the sweep are provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), *kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, thresholds: tuple[int, ...], asking_ns: float) -> Scene:
    points: list[dict[str, Any]] = []
    times = []
    start_ns, byte_ns = dice.uniform(500, 20_000), dice.uniform(0.1, 0.5)
    for number, threshold in enumerate(thresholds):
        environment = {"THRESHOLD": f"{number}"}
        for size in SIZES:
            ahead = size <= threshold
            where = f"{number}-{size}"
            points.append(point(where, size, ahead=ahead, environment=environment))
            times.append(start_ns + byte_ns * size + (0 if ahead else asking_ns))
    return scene(dice, points, times, provoked=min(thresholds) < NEVER)

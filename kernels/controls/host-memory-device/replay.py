"""Devices that are host memory, and devices that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.transfers import WAYS, point, scene


def scenes(seed: int) -> list[Scene]:
    """One of each: the first is provoked."""
    return [_scene(np.random.default_rng([seed, own]), own) for own in (1, 0)]


def _scene(dice: np.random.Generator, own: int) -> Scene:
    count = int(dice.integers(1, 5))
    sizes = [1 << int(dice.integers(3, 29)) for _ in range(count)]
    points = [
        point(f"p{k}", str(dice.choice(list(WAYS))), bytes=size, device_is_host_memory=own)
        for k, size in enumerate(sizes)
    ]
    times = [20_000 + size / dice.uniform(5, 25) for size in sizes]
    made = scene(dice, points, times, provoked=bool(own))
    return replace(made, host={"total_llc_bytes": 1 << 25})

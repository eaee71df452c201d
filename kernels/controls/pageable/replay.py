"""Transfers of ordinary and of pinned memory, which make a difference on some machines."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.transfers import WAYS, point, scene

KINDS = ("slower", "no slower", "alone", "pinned")


def scenes(seed: int) -> list[Scene]:
    """One of each kind: the first three are provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    way = str(dice.choice(list(WAYS)))
    threads = int(dice.choice([1, 2, 4, 8]))
    pinned = point("a", way, transfer_threads=threads)
    ordinary = point("b", way, transfer_threads=threads, host_memory_is_pinned=0)
    time_ns = dice.uniform(2e6, 2e7)
    factor = {"slower": dice.uniform(1.3, 4), "no slower": 1.0}.get(kind, dice.uniform(1, 3))
    pairs = {"alone": [(ordinary, time_ns)], "pinned": [(pinned, time_ns)]}
    both = [(pinned, time_ns), (ordinary, time_ns * factor)]
    points, times = zip(*pairs.get(kind, both), strict=True)
    return scene(dice, list(points), list(times), provoked=kind in KINDS[:3])

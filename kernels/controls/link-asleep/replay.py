"""Links that wake, stay slow or narrow, hang below a narrow bridge, or are always at their best."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.transfers import (
    BRIDGE,
    DEVICE,
    SPEEDS,
    WAYS,
    linked,
    point,
    scene,
)
from benchbook.host.pcie import link_bytes_per_s

KINDS = ("slow", "narrow", "wakes", "bridge", "awake")


def scenes(seed: int) -> list[Scene]:
    """One of each kind: all but the last are provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    speed = int(dice.integers(1, len(SPEEDS)))
    lanes = int(dice.choice([4, 8, 16]))
    most = (SPEEDS[speed], lanes)
    slow = (SPEEDS[int(dice.integers(0, speed))], lanes)
    narrow = (SPEEDS[speed], int(dice.choice([1, 2])))
    idle, load = {
        "slow": (slow, slow),
        "narrow": (narrow, narrow),
        "bridge": (narrow, narrow),
        "wakes": (slow, most),
    }.get(kind, (most, most))
    way = str(dice.choice(list(WAYS)))
    told = {f"link_{when}_at": DEVICE for when in ("idle", "load", "most")}
    if kind == "bridge":
        told |= {"link_idle_at": BRIDGE, "link_load_at": BRIDGE}
    moved = point("a", way, **linked(idle, load, most), **told)
    # The smallest transfer is over before the link is read, and tells nothing of it.
    tiny = point("b", way, **linked(idle, idle, most), **told, bytes=8)
    time_ns = moved["bytes"] / (0.8 * link_bytes_per_s(*load)) * 1e9
    return scene(dice, [moved, tiny], [time_ns, 20_000.0], provoked=kind != KINDS[-1])

"""Transfers of which only the link is known: faster than it, and not."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.transfers import SPEEDS, WAYS, linked, point, scene
from benchbook.host.pcie import link_bytes_per_s

KINDS = ("above the link", "below the link")


def scenes(seed: int) -> list[Scene]:
    """One of each kind: the first is provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    link = (float(dice.choice(SPEEDS)), int(dice.choice([1, 4, 8, 16])))
    moved = point("a", str(dice.choice(list(WAYS))), **linked(link, link, link))
    moved["orders_done_fraction"] = None
    share = dice.uniform(1.5, 100) if kind == "above the link" else dice.uniform(0.5, 0.95)
    time_ns = moved["bytes"] / (share * link_bytes_per_s(*link)) * 1e9
    return scene(dice, [moved], [time_ns], provoked=kind == "above the link")

"""Clocks that tick in microseconds to milliseconds, timing work that lasts a few ticks or many."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

TICKS_NS = (1_000, 1_000_000, 15_625_000)  # gettimeofday; HZ = 1000; an old Windows timer
SHORT = (0.08, 0.5, 1.4, 3.2, 11.0)  # ticks that the work lasts
LONG = (60.0, 400.0)
BLOCKS, SAMPLES = 3, 50


def scenes(seed: int) -> list[Scene]:
    """Each tick with work of each length; half of the clocks also say what their tick is."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, tick, length, told=(place + seed) % 2 == 0)
        for place, tick in enumerate(TICKS_NS)
        for length in (*SHORT, *LONG)
    ]


def _scene(dice: np.random.Generator, tick: int, length: float, told: bool) -> Scene:
    """Work that varies by 2 %, from a random moment between two ticks to a later one."""
    begin = dice.uniform(0, 1, (BLOCKS, SAMPLES))
    lasts = length * dice.normal(1, 0.02, (BLOCKS, SAMPLES))
    times = (np.floor(begin + lasts) - np.floor(begin)).astype(np.int64) * tick
    starts = [
        {"where": "work", "block": block, **({"clock_resolution_ns": tick} if told else {})}
        for block in range(BLOCKS)
    ]
    return Scene(
        provoked=length in SHORT,
        points=[{"where": "work"}],
        samples=made_samples({"work": times}, declared_bytes=4096),
        starts=starts,
    )

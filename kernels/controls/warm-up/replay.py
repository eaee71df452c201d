"""Starts whose samples need a while to become steady, at once or on a ramp, and starts that do
not."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 60
WARM_UPS = ((12, 4.0), (20, 2.5), (3, 20.0))  # samples, times as slow at first
SPREADS = (0.01, 0.05)


def scenes(seed: int) -> list[Scene]:
    """Each warm-up as a step and as a ramp, and none, over samples of each spread."""
    dice = np.random.default_rng(seed)
    found = []
    for spread in SPREADS:
        for length, slower in WARM_UPS:
            step = np.full(length, slower)
            ramp = np.linspace(2 * slower - 1, 1, length + 1)[:-1]
            found += [_scene(dice, spread, step), _scene(dice, spread, ramp)]
        found += [_scene(dice, spread, np.ones(1)) for _ in range(3)]
    return found


def _scene(dice: np.random.Generator, spread: float, first: np.ndarray) -> Scene:
    """The first samples are as many times as slow as `first` says."""
    shape = (BLOCKS, SAMPLES)
    times = 30_000 * dice.uniform(0.8, 1.25, (BLOCKS, 1)) * dice.lognormal(0, spread, shape)
    times[:, : len(first)] *= first
    return Scene(
        provoked=bool(first.max() > 1),
        points=[{"where": "work"}],
        samples=made_samples({"work": np.rint(times).astype(np.int64)}, declared_bytes=4096),
    )

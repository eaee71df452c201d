"""Samples with rare long delays, and samples that vary without any."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 250
DELAYS = ((0.01, 100.0), (0.02, 30.0), (0.05, 10.0))  # share of the samples, times as long
SPREADS = (0.01, 0.05, 0.1)  # log standard deviation of the others


def scenes(seed: int) -> list[Scene]:
    """Each kind of delay and none, over samples of each spread."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, spread, share, longer)
        for spread in SPREADS
        for share, longer in (*DELAYS, (0.0, 1.0))
    ]


def _scene(dice: np.random.Generator, spread: float, share: float, longer: float) -> Scene:
    shape = (BLOCKS, SAMPLES)
    times = 30_000 * dice.uniform(0.8, 1.25, (BLOCKS, 1)) * dice.lognormal(0, spread, shape)
    times[dice.random(shape) < share] *= longer
    return Scene(
        provoked=share > 0,
        points=[{"where": "work"}],
        samples=made_samples({"work": np.rint(times).astype(np.int64)}, declared_bytes=4096),
    )

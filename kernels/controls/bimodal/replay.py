"""Samples that fall into two groups inside each start, and samples that differ between starts."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 100
APART = (1.5, 2.0, 4.0)  # times as long as the faster group
SHARES = (0.2, 0.5, 0.8)  # of the samples, in the slower one
SPREADS = (0.01, 0.03)


def scenes(seed: int) -> list[Scene]:
    """Two groups of each kind; one group, whose starts are of the same two kinds (null)."""
    dice = np.random.default_rng(seed)
    found = [
        _scene(dice, spread, apart, share)
        for spread in SPREADS
        for apart in APART
        for share in SHARES
    ]
    return [*found, *(_scene(dice, spread, apart, None) for spread in SPREADS for apart in APART)]


def _scene(dice: np.random.Generator, spread: float, apart: float, share: float | None) -> Scene:
    """`share` of the samples are slower; None: every second start is as a whole."""
    shape = (BLOCKS, SAMPLES)
    times = 30_000 * dice.lognormal(0, spread, shape)
    if share is None:
        times[::2] *= apart
    else:
        times[dice.random(shape) < share] *= apart
    return Scene(
        provoked=share is not None,
        points=[{"where": "work"}],
        samples=made_samples({"work": np.rint(times).astype(np.int64)}, declared_bytes=4096),
    )

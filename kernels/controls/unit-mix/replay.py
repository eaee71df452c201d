"""A foreign program beside ours at several sizes: its figures in another unit, or at another speed.

Synthetic: lognormal noise of a quiet machine on samples and blocks.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchbook.controls.replays import Scene

CONSTANTS = (1.048576, 1 / 1.048576, 1.073741824, 4 / 3, 1.5, 1 / 1.5, 2.0, 0.5, 3.0, 8.0, 0.125)
# Of honest programs, the same at all sizes; one that is 1.5 times as fast at each cannot be told.
SPEEDS = (1.0, 1.0, 0.9, 1.13, 1.22, 0.82, 1.4, 1.7)
SIZES = (1 << 20, 8 << 20, 32 << 20)
BLOCKS, SAMPLES = 10, 8
NS_PER_BYTE = 0.05
OF_BLOCK, OF_START, OF_SAMPLE = 0.05, 0.003, 0.01
CODE = {
    "loads_in_loop": 1,
    "stores_in_loop": 1,
    "non_temporal_stores": [],
    "string_instructions": [],
    "library_calls": [],
    "flags_asked": ["-O3"],
}


def scenes(seed: int) -> list[Scene]:
    """Two of another unit, two of another speed, one whose speed depends on the size."""
    dice = np.random.default_rng(seed)
    units = dice.choice(CONSTANTS, 2, replace=False)
    speeds = dice.choice(SPEEDS, 2, replace=False)
    steps = np.exp(dice.uniform(-0.4, 0.4, len(SIZES)))
    return [
        *(_scene(dice, [float(unit)] * len(SIZES), provoked=True) for unit in units),
        *(_scene(dice, [float(speed)] * len(SIZES), provoked=False) for speed in speeds),
        _scene(dice, [float(step) for step in steps], provoked=False),
    ]


def _scene(dice: np.random.Generator, ratios: list[float], *, provoked: bool) -> Scene:
    points, tables = [], []
    for size, ratio in zip(SIZES, ratios, strict=True):
        common = {"setting": f"s{size}", "bytes": size, "working_set_bytes": 2 * size}
        blocks = np.exp(dice.normal(0, OF_BLOCK, BLOCKS))
        for name, scale, facts in (("ours", 1.0, CODE), ("theirs", ratio, {})):
            where = f"{name} {size}"
            points.append({"where": where, "series": name, **common, **facts})
            tables.append(_samples(dice, where, size, scale, blocks))
    return Scene(provoked=provoked, points=points, samples=pd.concat(tables, ignore_index=True))


def _samples(
    dice: np.random.Generator, where: str, size: int, scale: float, blocks: np.ndarray
) -> pd.DataFrame:
    """Times of one point: shorter by `scale`, as one reads them off a rate that is larger by it."""
    block = np.repeat(np.arange(BLOCKS), SAMPLES)
    starts = np.exp(dice.normal(0, OF_START, BLOCKS))
    noise = np.exp(dice.normal(0, OF_SAMPLE, BLOCKS * SAMPLES))
    times = size * NS_PER_BYTE / scale * np.repeat(blocks * starts, SAMPLES) * noise
    return pd.DataFrame(
        {
            "point": where,
            "block": block,
            "invocation": block,
            "sample": np.tile(np.arange(SAMPLES), BLOCKS),
            "warm_up": False,
            "t_start_ns": np.cumsum(times) - times,
            "time_ns": times,
            "bytes_declared": size,
        }
    )

"""Processors on which a load waits for a store whose lower address bits are alike, and others."""

import random
from typing import Any

import pandas as pd

from benchbook.controls.replays import Scene

BYTES, BLOCKS, SAMPLES = 8192, 12, 20
NEAR, FAR = (0, 8, 24, 56), (512, 1032, 2048, 3000)


def scenes(seed: int) -> list[Scene]:
    """Slowed down at small distances, a little and a lot, with and without load beside it; a
    processor that is not, and a destination that stands far off."""
    dice = random.Random(seed)
    return [
        _scene(dice, True, slower=1.12, load=0.0),
        _scene(dice, True, slower=1.3, load=0.3),
        _scene(dice, True, slower=2.5, load=0.3),
        _scene(dice, False, slower=1.0, load=0.0),
        _scene(dice, False, slower=1.0, load=0.3),
        _scene(dice, False, slower=1.3, load=0.0, distances=FAR),
    ]


def _scene(
    dice: random.Random,
    provoked: bool,
    *,
    slower: float,
    load: float,
    distances: tuple[int, ...] = (*NEAR, *FAR),
) -> Scene:
    """load: share of the blocks in which other work slows a few points down."""
    rows: list[dict[str, Any]] = []
    for block in range(BLOCKS):
        loaded = dice.random() < load
        for distance in dice.sample(distances, len(distances)):
            usual = 300 * (slower if distance in NEAR else 1) * dice.uniform(1, 1.01)
            if loaded and dice.random() < 0.3:
                usual *= dice.uniform(1.1, 1.8)
            rows += _samples(dice, f"p{distance}", block, usual)
    points = [
        {
            "where": f"p{distance}",
            "bytes": BYTES,
            "loads_in_loop": 2,
            "stores_in_loop": 1,
            "destination_minus_source_mod_4096": distance,
        }
        for distance in distances
    ]
    return Scene(provoked=provoked, points=points, samples=pd.DataFrame(rows))


def _samples(dice: random.Random, point: str, block: int, usual: float) -> list[dict[str, Any]]:
    times = [round(usual * (1 + dice.expovariate(100))) for _ in range(SAMPLES)]
    return [
        {
            "point": point,
            "block": block,
            "invocation": block,
            "sample": number,
            "warm_up": False,
            "t_start_ns": block * 10**6 + number * 2000,
            "time_ns": time,
            "bytes_declared": 2 * BYTES,
        }
        for number, time in enumerate(times)
    ]

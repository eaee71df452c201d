"""Starts whose memory comes in huge pages or in small ones as the system pleases."""

import random
from typing import Any

import pandas as pd

from benchbook.controls.replays import Scene

MIB = 2**20
BYTES, BLOCKS, SAMPLES = 64 * MIB, 8, 10


def scenes(seed: int) -> list[Scene]:
    """One point whose starts differ; two builds in huge pages, two in small ones, and buffers of
    which always the same part is huge."""
    dice = random.Random(seed)
    one = dice.randrange(1, BLOCKS - 1)
    return [
        _scene(dice, True, [1.0] * one + [0.0] * (BLOCKS - one), faster=1.3),
        _scene(dice, True, [0.0] * one + [0.95] * (BLOCKS - one), faster=1.1),
        _scene(dice, False, [1.0] * BLOCKS, faster=1.3),
        _scene(dice, False, [0.0] * BLOCKS, faster=1.3),
        _scene(dice, False, [dice.uniform(0.9, 1) for _ in range(BLOCKS)], faster=1.3),
    ]


def _scene(dice: random.Random, provoked: bool, shares: list[float], *, faster: float) -> Scene:
    dice.shuffle(shares)
    rows: list[dict[str, Any]] = []
    for block, share in enumerate(shares):
        usual = 40_000 / (1 + share * (faster - 1))
        for number in range(SAMPLES):
            rows.append(
                {
                    "point": "p",
                    "block": block,
                    "invocation": block,
                    "sample": number,
                    "warm_up": False,
                    "t_start_ns": (block * SAMPLES + number) * 10**6,
                    "time_ns": round(usual * dice.uniform(0.99, 1.02)),
                    "bytes_declared": BYTES,
                }
            )
    starts = [
        {
            "where": "p",
            "block": block,
            "anon_huge_bytes": int(share * BYTES),
            "buffers_bytes": BYTES,
        }
        for block, share in enumerate(shares)
    ]
    points = [{"where": "p", "bytes": BYTES, "working_set_bytes": BYTES}]
    return Scene(provoked=provoked, points=points, samples=pd.DataFrame(rows), starts=starts)

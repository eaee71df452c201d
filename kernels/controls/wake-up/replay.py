"""Round trips after gaps: ends that are woken late, and ends that an idle core delays as much as it
does spinning ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 60
GAPS_NS = (0, 100_000, 10_000_000)
SPINNING_NS, ASLEEP_NS = 9_000.0, 14_000.0  # without a gap
COLD_NS = (0.0, 3_000.0, 8_000.0)  # what both take longer after the gaps
WAKING_NS = (0.0, 9_000.0, 19_000.0)  # what sleeping ends take longer still
SPREAD = 0.04  # log standard deviation of the samples


def scenes(seed: int) -> list[Scene]:
    """With and without late wakings, on cores that an idle time does or does not make slower."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, cold, waking)
        for cold in (COLD_NS, (0.0, 0.0, 0.0))
        for waking in (WAKING_NS, (0.0, 0.0, 0.0))
    ]


def _scene(dice: np.random.Generator, cold: tuple[float, ...], waking: tuple[float, ...]) -> Scene:
    points: list[dict[str, Any]] = []
    times = {}
    machine = dice.uniform(0.9, 1.15, (BLOCKS, 1))  # moves all points of a block
    for place, gap in enumerate(GAPS_NS):
        for spinning, least, more in (
            (1, SPINNING_NS, cold[place]),
            (0, ASLEEP_NS, cold[place] + waking[place]),
        ):
            where = f"{spinning} {gap}"
            samples = (least + more) * machine * dice.lognormal(0, SPREAD, (BLOCKS, SAMPLES))
            times[where] = np.rint(samples).astype(np.int64)
            points.append(
                {
                    "where": where,
                    "payload_bytes": 64,
                    "gap_ns": gap,
                    "round_trips": SAMPLES,
                    "sockets_opened": 1,
                    "spinning": spinning,
                    "open_schedule": 0,
                    "voluntary_switches": SAMPLES * ((gap > 0) + 1 - spinning),
                }
            )
    return Scene(
        provoked=max(waking) > 0, points=points, samples=made_samples(times, declared_bytes=64)
    )

"""Round trips over links of several rates, which hold each frame for its wire time or do not."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 60
RATES = (10_000_000, 100_000_000, 1_000_000_000)  # bit/s
SIZES = (64, 512, 1408)
LEAST_NS, PER_BYTE_NS = 20_000.0, 0.4  # of a round trip without a link, and of its copies
OVERHEAD_BYTES, BITS = 66, 8
SPREAD = 0.03  # log standard deviation of the samples


def scenes(seed: int) -> list[Scene]:
    """Each rate over one to four links, with and without the wire time."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, rate, links, held)
        for rate in RATES
        for links in (1, 4)
        for held in (True, False)
    ]


def _scene(dice: np.random.Generator, rate: int, links: int, held: bool) -> Scene:
    machine = dice.uniform(0.95, 1.1, (BLOCKS, 1))  # moves all points of a block
    points, times = [], {}
    for size in SIZES:
        wire_ns = 2 * links * BITS * 1e9 / rate * (size + OVERHEAD_BYTES)
        host_ns = LEAST_NS + PER_BYTE_NS * size
        samples = host_ns * machine * dice.lognormal(0, SPREAD, (BLOCKS, SAMPLES)) + held * wire_ns
        times[f"{size}"] = np.rint(samples).astype(np.int64)
        points.append(
            {
                "where": f"{size}",
                "payload_bytes": size,
                "gap_ns": 0,
                "link_bits_per_s": rate,
                "emulated_switches": links,
                "round_trips": SAMPLES,
                "sockets_opened": 1,
                "spinning": 1,
                "open_schedule": 0,
            }
        )
    return Scene(
        provoked=not held, points=points, samples=made_samples(times, declared_bytes=SIZES[0])
    )

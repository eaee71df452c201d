"""Round trips through interfaces that hold interrupts back, and that hold none back."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 60
DELAYS_US = {20: True, 50: True, 100: True, 0: False, 1: False}  # and whether it counts
BASE_NS = 25_000.0  # of a round trip without any delay
SPREAD = 0.04  # log standard deviation of the samples


def scenes(seed: int) -> list[Scene]:
    """One interface each, asleep and spinning."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, delay_us, is_long, spinning)
        for delay_us, is_long in DELAYS_US.items()
        for spinning in (0, 1)
    ]


def _scene(dice: np.random.Generator, delay_us: int, is_long: bool, spinning: int) -> Scene:
    held_ns = 1000.0 * delay_us * dice.uniform(0.5, 1, (BLOCKS, SAMPLES))
    times = BASE_NS * dice.lognormal(0, SPREAD, (BLOCKS, SAMPLES)) + held_ns
    point = {
        "where": "trip",
        "payload_bytes": 64,
        "round_trips": SAMPLES,
        "sockets_opened": 1,
        "spinning": spinning,
        "device_is_loopback": 0,
        "interrupt_delay_ns": 1000 * delay_us,
    }
    samples = made_samples({"trip": np.rint(times).astype(np.int64)}, declared_bytes=64)
    return Scene(provoked=is_long, points=[point], samples=samples)

"""Samples of a clock that somebody sets while they run, beside one that only goes forward."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import GAP_NS, START_NS, made_samples

BLOCKS, SAMPLES = 4, 60
BACK_NS = (5_000_000, 2_000_000_000)  # by NTP's step, by hand
FORWARD_NS = (1_500_000_000, 3_600_000_000_000)  # a leap, summer time
SLEWED = 1.0005  # as fast as NTP lets a clock run
PAUSE_NS = 30_000_000  # the machine was not there for so long


def scenes(seed: int) -> list[Scene]:
    """Steps back and forward inside a sample and between two; slewing, a pause, and nothing."""
    dice = np.random.default_rng(seed)
    found = [
        _scene(dice, step, inside=inside)
        for step in (*(-step_ns for step_ns in BACK_NS), *FORWARD_NS)
        for inside in (True, False)
        if step < 0 or inside  # forward between two samples is in none of them
    ]
    found += [_scene(dice, 0), _scene(dice, 0, rate=SLEWED), _scene(dice, 0, pause=PAUSE_NS)]
    return found


def _scene(
    dice: np.random.Generator, step: int, inside: bool = True, rate: float = 1.0, pause: int = 0
) -> Scene:
    """True times of 20 µs; the clock reads `rate` of them, and moves by `step` in one block."""
    true = dice.lognormal(np.log(20_000), 0.03, (BLOCKS, SAMPLES)).astype(np.int64)
    block, sample = int(dice.integers(BLOCKS)), int(dice.integers(1, SAMPLES))
    true[block, sample] += pause
    ends = np.cumsum(true + GAP_NS, axis=1)
    begins = ends - true
    read_begin, read_end = (np.rint(edges * rate).astype(np.int64) for edges in (begins, ends))
    read_end[block, sample:] += step
    read_begin[block, sample + inside :] += step
    read_begin += START_NS * np.arange(BLOCKS)[:, None]
    read_end += START_NS * np.arange(BLOCKS)[:, None]
    return Scene(
        provoked=step != 0,
        points=[{"where": "work"}],
        samples=made_samples({"work": read_end - read_begin}, 4096, t_start_ns=read_begin),
        starts=[
            {"where": "work", "block": place, "wall_ns": int(lasted)}
            for place, lasted in enumerate(ends[:, -1])
        ],
    )

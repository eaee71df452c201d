"""Messages from the same buffers beside such that rotate beyond the cache, which matters or not."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.messages import point, scene

LLC_BYTES = 32 << 20
# How many times as long messages from rotating buffers take.
PROVOKED, NULLS = (1.15, 1.5, 3.0), (1.0, 0.97)


def scenes(seed: int) -> list[Scene]:
    """The first three are provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), slower)
        for number, slower in enumerate((*PROVOKED, *NULLS))
    ]


def _scene(dice: np.random.Generator, slower: float) -> Scene:
    size = int(dice.choice([16384, 65536, 262144]))
    time_ns = size * dice.uniform(0.1, 0.5)
    rotating = int(dice.integers(2, 6)) * LLC_BYTES
    points = [
        point("same", size, ahead=False),
        point(
            "rotating", size, ahead=False, rotation_bytes=rotating, message_buffers_bytes=rotating
        ),
    ]
    return scene(
        dice,
        points,
        [time_ns, time_ns * slower],
        provoked=slower in PROVOKED,
        host={"llc_sysfs_bytes": LLC_BYTES},
    )

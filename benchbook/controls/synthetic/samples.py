"""Tables of samples for replayed scenes, out of times that a replay.py makes up or has recorded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

GAP_NS = 100  # between the end of a sample and the begin of the next
START_NS = 10**9  # from the first sample of a start to that of the next


def made_samples(
    times_ns: Mapping[str, ArrayLike], declared_bytes: int, t_start_ns: ArrayLike | None = None
) -> pd.DataFrame:
    """Point -> times (blocks, samples) -> one row per sample, as `replays.Scene` takes them.

    The points of a block run one after the other. `t_start_ns` (blocks, samples), of one point
    only, replaces the begins of the samples, which else follow each other. Nothing is a warm-up.
    """
    parts = []
    for place, (point, times) in enumerate(times_ns.items()):
        table = np.asarray(times)
        blocks, count = table.shape
        block, sample = (index.ravel() for index in np.indices(table.shape))
        starts = np.cumsum(np.abs(table) + GAP_NS, axis=1) - np.abs(table)
        starts = starts + START_NS * (np.arange(blocks)[:, None] * len(times_ns) + place)
        parts.append(
            pd.DataFrame(
                {
                    "point": point,
                    "block": block,
                    "invocation": place,
                    "sample": sample,
                    "warm_up": np.zeros(blocks * count, dtype=bool),
                    "t_start_ns": np.ravel(starts if t_start_ns is None else t_start_ns),
                    "time_ns": table.ravel(),
                    "bytes_declared": declared_bytes,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)

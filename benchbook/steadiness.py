"""The samples inside one start of the program: how many were warm-up, and which shape they have."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats

UNTOLD: dict[str, Any] = {"warm_up_samples": None, "modes": None, "heavy_tail": None}


def steadiness(calls: pd.DataFrame) -> dict[str, Any]:
    """One point's samples [block, invocation, sample, warm_up, time_ns] -> their warm-up and shape.

    With a column `process`, each process of an invocation counts as an invocation.

    warm_up_samples: leading samples that are not steady, the marked warm-ups among them, median
    over invocations. modes, heavy_tail: of the samples after the marked warm-ups, each divided by
    its invocation's median, so that differences between invocations do not count. None where too
    few samples tell.
    """
    lengths, relative = [], []
    keys = ["block", "invocation", *(["process"] if "process" in calls else [])]
    for _, start in calls.groupby(keys, sort=False):
        ordered = start.sort_values("sample")
        times = ordered["time_ns"].to_numpy(dtype=float)
        lengths.append(stats.warm_up_length(times))
        kept = times[~ordered["warm_up"].to_numpy(dtype=bool)]
        if len(kept):
            relative.append(kept / np.median(kept))
    known = [length for length in lengths if length is not None]
    if not relative:
        return UNTOLD
    found = stats.shape(np.concatenate(relative))
    warm_up = median(known) if known else None
    return {"warm_up_samples": warm_up, "modes": found.modes, "heavy_tail": found.heavy_tail}

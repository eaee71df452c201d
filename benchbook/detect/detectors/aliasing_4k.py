"""aliasing-4k: a load waits for a store that stands a multiple of 4 KiB away from it.

The processor first compares only the lower 12 bits of addresses. Where the destination stands 0 to
63 B behind the source, whole pages left out, each load looks like one of the stores just before.
The addresses say where that may be; whether this processor pays for it, only time tells: the same
work with other distances, measured in the same blocks.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from statistics import median

import pandas as pd

from benchbook import stats
from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.findings import Finding

DISTANCE = "destination_minus_source_mod_4096"
PAGE_BYTES, NEAR_BYTES, FAR_BYTES = 4096, 64, 512
LEVEL = 0.98  # of the interval: its lower end alone holds with 99 %
LEAST_FACTOR = 1.03
SEEN_FACTOR = 1.08  # what may be no smaller is not ruled out
ALIKE = (
    *("bytes", "bytes_per_call", "block_bytes", "stride_bytes", "threads", "processes"),
    *("compiler", "flags_asked", "environment", "loads_in_loop", "stores_in_loop"),
    *("library_calls", "timed_isa"),
)
ARTEFACT = artefact("aliasing-4k")


def detect(seen: Seen) -> Judged:
    """One finding for all points of the same work that are slowed down; abstains where no other
    distance was measured, or in too few blocks, or where these differ too much. Without the
    distance the question does not arise: a random one in each start is the remedy."""
    judged = Judged()
    groups: dict[Hashable, list[Row]] = {}
    for row in seen.rows():
        if is_known(row.get(DISTANCE)):
            groups.setdefault(tuple(str(row.get(name)) for name in ALIKE), []).append(row)
    for rows in groups.values():
        near = [row for row in rows if _distance(row) < NEAR_BYTES]
        far = [row for row in rows if FAR_BYTES <= _distance(row) <= PAGE_BYTES - FAR_BYTES]
        slower = {}
        for row in near:
            interval = _slower(seen, row, far)
            if isinstance(interval, str):
                judged.abstained[row["where"]] = interval
            elif interval.low > math.log(LEAST_FACTOR):
                slower[row["where"]] = interval
            elif interval.high > math.log(SEEN_FACTOR):
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                    "too-noisy", longer=math.exp(interval.high)
                )
        if slower:
            judged.findings.append(_finding(near, far, slower))
    judged_points = [str(row["where"]) for rows in groups.values() for row in rows]
    return judged.rest_is_clean(judged_points)


def _distance(row: Row) -> int:
    return int(row[DISTANCE])


def _slower(seen: Seen, row: Row, far: list[Row]) -> stats.Interval | str:
    """Log of the time ÷ that of the far points in the same block, with its interval; or why not."""
    if not far:
        return ARTEFACT.cannot_tell("no-distance-apart")
    own = _times(seen, row["where"])
    others = pd.concat([_times(seen, distant["where"]) for distant in far], axis=1)
    if own.empty or others.empty:
        return ARTEFACT.cannot_tell("not-observed")
    ratios = (own - others.median(axis=1)).dropna()
    if len(ratios) < 2:
        return ARTEFACT.cannot_tell("one-block")
    interval = stats.signed_rank_interval(ratios, LEVEL)
    if math.isinf(interval.low):
        return ARTEFACT.cannot_tell("too-few-blocks", blocks=interval.n)
    return interval


def _times(seen: Seen, where: str) -> pd.Series:
    """Log of the fastest time of each block: what else runs makes it slower, never faster."""
    starts = seen.starts_of(where)
    if first_unknown(dict.fromkeys(starts.columns, 0), ("block", "best_ns")):
        return pd.Series(dtype=float)
    best = starts.groupby("block")["best_ns"].min()
    return best[best > 0].map(math.log)


def _finding(near: list[Row], far: list[Row], slower: dict[str, stats.Interval]) -> Finding:
    distances = sorted(_distance(row) for row in near if row["where"] in slower)
    least = min(slower.values(), key=lambda interval: interval.low)
    longer = median(math.exp(interval.estimate) for interval in slower.values())
    words = {
        "distances": distances,
        "near": [f"{distance} B" for distance in dict.fromkeys(distances)],
        "far": [_distance(row) for row in far],
        "longer": longer,
        "bound": math.exp(least.low),
        "blocks": least.n,
    }
    factors = {where: math.exp(-interval.estimate) for where, interval in slower.items()}
    return ARTEFACT.finding(slower, words, factor=1 / longer, factors=factors)

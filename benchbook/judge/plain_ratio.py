"""How near points come to the plain way of doing the same work, block by block.

experiment.yaml names in `plain` the factors that make of a point its plain twin, such as one loop
in place of a pool of threads: what the machine did to both in a block is gone from the ratio.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook.analyse.pairwise import Point, paired
from benchbook.core.files import storable
from benchbook.judge.baselines import with_counterparts


def against_plain(
    points: list[Point], summaries: pd.DataFrame, plain: dict[str, Any]
) -> list[dict[str, Any]]:
    """{point, plain, rate_bytes_per_s, plain_bytes_per_s, longer_ns, ratio, low95, high95, blocks,
    emulates} of every measured point of ours whose plain twin was measured too; none without
    `plain`.

    longer_ns: how much longer a call of the point takes than one of its plain twin.

    ratio: of the two rates, with its pointwise exact signed-rank interval over the blocks that hold
    both; below 6 blocks it has none: its ends are 0 and None.
    """
    if not plain or summaries.empty:
        return []
    ratios = []
    for point, twin in with_counterparts(points, plain):
        ratio = paired(summaries, point["point"], twin["point"])
        if ratio is None:
            continue
        ratios.append(
            {
                "point": point["point"],
                "plain": twin["point"],
                "rate_bytes_per_s": point["rate_bytes_per_s"],
                "plain_bytes_per_s": twin["rate_bytes_per_s"],
                "longer_ns": point["time_ns"] - twin["time_ns"],
                **{key: ratio[key] for key in ("ratio", "low95", "high95", "blocks")},
                "emulates": point.get("emulates", ""),
            }
        )
    ready: list[dict[str, Any]] = storable(ratios)
    return ready

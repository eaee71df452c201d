"""What points cost without their baseline: its time taken off theirs, block by block.

experiment.yaml names in `baseline` the factors that make of a point its baseline, such as the empty
loop; what both have in common, and what the machine did to both in a block, is gone from the
difference.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from benchbook import stats

POINTWISE = 0.95
CYCLES = "reference_cycles_per_ns"  # observed by kernels that read the processor's counter
Point = dict[str, Any]


def net(
    points: list[Point], summaries: pd.DataFrame, baseline: dict[str, Any]
) -> list[dict[str, Any]]:
    """{point, baseline, time_ns, net_ns, low_ns, high_ns, cycles_per_ns, blocks} of every measured
    point of ours whose baseline was measured too; none without a baseline.

    Times of a call in ns. Error: the exact signed-rank interval of the differences, pointwise 95 %;
    its ends are None below 6 blocks. `cycles_per_ns`: None where there is no such counter.
    """
    if not baseline or summaries.empty:
        return []
    ours = [point for point in points if not point["twin"] and not point.get("peer")]
    measured = {
        key_of(point): point for point in ours if point["state"] == "ok" and point["time_ns"]
    }
    medians = summaries.pivot(index="block", columns="point", values="median_ns")
    found = []
    for key, point in measured.items():
        below = measured.get(key_of(point, baseline))
        if below is None or key_of(below) == key:
            continue
        each = medians.reindex(columns=[point["point"], below["point"]]).dropna()
        if each.empty:
            continue
        differences = each[point["point"]] - each[below["point"]]
        interval = stats.signed_rank_interval(differences.to_numpy(float), POINTWISE)
        is_finite = interval.low > -float("inf")
        found.append(
            {
                "point": point["point"],
                "baseline": below["point"],
                "time_ns": point["time_ns"],
                "net_ns": interval.estimate,
                "low_ns": interval.low if is_finite else None,
                "high_ns": interval.high if is_finite else None,
                "cycles_per_ns": point["observations"].get(CYCLES),
                "blocks": len(each),
            }
        )
    return found


def key_of(point: Point, changed: dict[str, Any] | None = None) -> str:
    """What makes a point, with some factors changed."""
    factors = {**point["factors"], **(changed or {})}
    return json.dumps([point["variant"], factors], sort_keys=True)

"""What points cost without their baseline: its time taken off theirs, block by block.

experiment.yaml names in `baseline` the factors that make of a point its baseline, such as the empty
loop; what both have in common, and what the machine did to both in a block, is gone from the
difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.analyse.pairwise import Point, usable

POINTWISE = 0.95
CYCLES = "reference_cycles_per_ns"  # observed by kernels that read the processor's counter


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
    medians = summaries.pivot(index="block", columns="point", values="median_ns")
    costs = []
    for point, below in with_counterparts(points, baseline):
        both = medians.reindex(columns=[point["point"], below["point"]]).dropna()
        if both.empty or not point["time_ns"] or not below["time_ns"]:
            continue
        differences = both[point["point"]] - both[below["point"]]
        interval = stats.signed_rank_interval(differences.to_numpy(float), POINTWISE)
        is_finite = interval.low > -float("inf")
        costs.append(
            {
                "point": point["point"],
                "baseline": below["point"],
                "time_ns": point["time_ns"],
                "net_ns": interval.estimate,
                "low_ns": interval.low if is_finite else None,
                "high_ns": interval.high if is_finite else None,
                "cycles_per_ns": point["observations"].get(CYCLES),
                "blocks": len(both),
            }
        )
    return costs


def with_counterparts(
    points: list[Point], changed: dict[str, Any]
) -> Iterator[tuple[Point, Point]]:
    """Measured points of ours, each with the one that has these factors instead and else the same;
    none of those that have them already."""
    measured = {_key(point): point for point in usable(points).values()}
    for key, point in measured.items():
        counterpart = measured.get(_key(point, changed))
        if counterpart is not None and _key(counterpart) != key:
            yield point, counterpart


def _key(point: Point, changed: dict[str, Any] | None = None) -> str:
    """What makes a point, with some factors changed."""
    factors = {**point["factors"], **(changed or {})}
    return json.dumps([point["variant"], factors], sort_keys=True)

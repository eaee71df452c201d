"""The whole machine by processes: averages summed, and what arrived in the wall time."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from benchbook.analyse.pairwise import Point, paired, usable
from benchbook.analyse.tables import rate

COUNT, SCHEDULE = "processes", "schedule"
APART, TOGETHER = "apart", "together"


def whole_machine(
    points: list[Point], summaries: pd.DataFrame, per: float, cores: int | None
) -> list[dict[str, Any]]:
    """One entry for each setting that was measured by processes, its rows by their number.

    [{variant, factors, rows: [{processes, crowded, apart, together, ratio}]}]. `apart`: processes
    started together and left alone, their average rates summed, as scripts do it; `together`: they
    meet before each sample, all bytes ÷ the time from the first start to the last end. Each is
    {point, rate, low, high in units of `per` bytes per second, observations} or None, with the
    rate by the paper's own statistic, which differs from the median where processes take turns;
    `ratio` is that of the two rates within blocks (apart ÷ together). crowded: more processes than
    cores.
    """
    groups: dict[str, list[Point]] = {}
    for point in usable(points).values():
        if COUNT in point["factors"]:
            key = json.dumps([point["variant"], _rest(point)], sort_keys=True)
            groups.setdefault(key, []).append(point)
    return [
        {
            "variant": same[0]["variant"],
            "factors": _rest(same[0]),
            "rows": _rows(same, summaries, per, cores),
        }
        for same in groups.values()
    ]


def _rest(point: Point) -> dict[str, Any]:
    return {k: v for k, v in point["factors"].items() if k not in (COUNT, SCHEDULE)}


def _rows(
    same: list[Point], summaries: pd.DataFrame, per: float, cores: int | None
) -> list[dict[str, Any]]:
    at = {(point["factors"][COUNT], point["factors"].get(SCHEDULE)): point for point in same}
    rows = []
    for count in sorted({count for count, _ in at}):
        apart, together = at.get((count, APART)), at.get((count, TOGETHER))
        ratio = None
        if apart and together:
            ratio = paired(summaries, apart["point"], together["point"])
        rows.append(
            {
                "processes": count,
                "crowded": cores is not None and count > cores,
                APART: _side(apart, per),
                TOGETHER: _side(together, per),
                "ratio": ratio,
            }
        )
    return rows


def _side(point: Point | None, per: float) -> dict[str, Any] | None:
    if point is None:
        return None
    low, high = point["rate_low_bytes_per_s"], point["rate_high_bytes_per_s"]
    paper_ns = point["paper_ns"]
    return {
        "point": point["point"],
        "rate": point["rate_bytes_per_s"] / per,
        "low": low and low / per,
        "high": high and high / per,
        "paper_rate": rate(point["bytes_per_call"], paper_ns) / per if paper_ns else None,
        "paper_statistic": f"{point['paper_statistic']} of {point['paper_samples']}",
        "observations": point["observations"],
    }

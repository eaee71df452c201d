"""What a pointer chase tells of the caches: ns per load by working set, its levels and rises."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook import stats

LOADS = "dependent_loads_per_call"  # the kernel's own word for what each of its calls does
WORKING_SET = "bytes"
Point = dict[str, Any]


def chases(points: list[Point], summaries: pd.DataFrame) -> list[dict[str, Any]]:
    """One for each variant and setting whose calls are dependent loads: {variant, factors, blocks,
    values, plateaus, rises}, most sizes first.

    values: {bytes, point, time_ns, low_ns, high_ns, p10_ns, p90_ns, huge_share} of one load, by
    size; `huge_share` is that of the working set that lies in huge pages, None where unknown.
    plateaus and rises as in stats.Plateau and stats.Rise, in bytes and ns, of the blocks that hold
    all sizes.
    """
    by_setting: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        if point["state"] == "ok" and not point["twin"] and point["observations"].get(LOADS):
            if point["time_ns"] is None or WORKING_SET not in point["factors"]:
                continue
            by_setting.setdefault((point["variant"], *_setting(point).items()), []).append(point)
    lines = [_line(ones, summaries) for ones in by_setting.values()]
    return sorted(lines, key=lambda line: -len(line["values"]))


def _setting(point: Point) -> dict[str, Any]:
    return {name: value for name, value in point["factors"].items() if name != WORKING_SET}


def _line(points: list[Point], summaries: pd.DataFrame) -> dict[str, Any]:
    points = sorted(points, key=lambda point: int(point["factors"][WORKING_SET]))
    loads = {point["point"]: point["observations"][LOADS] for point in points}
    own = summaries[summaries["point"].isin(loads)]
    times = own.pivot_table(index="point", columns="block", values="median_ns")
    times = times.reindex(list(loads)).dropna(axis=1)
    times = times.div(pd.Series(loads), axis=0).loc[list(loads)]
    sizes = [point["factors"][WORKING_SET] for point in points]
    levels = stats.levels(sizes, times) if times.shape[1] else stats.Levels([], [])
    return {
        "variant": points[0]["variant"],
        "factors": _setting(points[0]),
        "blocks": times.shape[1],
        "values": [_value(point) for point in points],
        "plateaus": [_finite(plateau._asdict()) for plateau in levels.plateaus],
        "rises": [_finite(rise._asdict()) for rise in levels.rises],
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an end that too few blocks leave open is None."""
    return {
        name: None if isinstance(value, float) and value in (0.0, float("inf")) else value
        for name, value in row.items()
    }


def _value(point: Point) -> dict[str, Any]:
    seen, spread = point["observations"], point["spread_ns"]

    def each(ns: float | None) -> float | None:
        return None if ns is None else ns / seen[LOADS]

    huge, held = seen.get("anon_huge_bytes"), seen.get("buffers_bytes")
    return {
        "bytes": point["factors"][WORKING_SET],
        "point": point["point"],
        "time_ns": each(point["time_ns"]),
        "low_ns": each(point["time_low_ns"]),
        "high_ns": each(point["time_high_ns"]),
        "p10_ns": each(spread.get("p10_ns")),
        "p90_ns": each(spread.get("p90_ns")),
        # The mapping is that of the largest working set of a start.
        "huge_share": None if huge is None or not held else min(huge / held, 1.0),
    }

"""What it would take to settle an inconclusive claim: blocks, and minutes on this machine."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.define.points import Point
from benchbook.estimands import kind_of, names_of
from benchbook.judge.resolved_claim import ResolvedClaim

MOST_BLOCKS = 900  # beyond this nobody waits; exact intervals end at 1000, repeats included


def price(resolved: ResolvedClaim) -> dict[str, Any] | None:
    """{margin, blocks, minutes, guard, least}: `margin` on the scale on which noise adds, from
    estimate to the nearest bound of the region; blocks None where no number of them settles it;
    `guard` where not the interval but the twins left the claim open; below `least` blocks no
    interval has two ends. None without an estimate.

    Error: an order of magnitude, see stats.blocks_to_settle.
    """
    made, claim = resolved.estimate, resolved.claim
    if made is None:
        return None
    scale = kind_of(resolved.estimand).scale
    margin = stats.settling_margin(
        scale(made.value), [scale(bound) for bound in claim.region if bound is not None]
    )
    least = stats.least_blocks(max(resolved.intervals, 1))
    if claim.holds(made.low, made.high) != "inconclusive":
        # The interval is narrow enough: something else left the claim open.
        return {"margin": margin, "blocks": None, "minutes": None, "guard": True, "least": least}
    blocks = stats.blocks_to_settle(made.values, margin, resolved.intervals)
    if blocks is not None:  # as many as now did not do
        blocks = max(blocks, len(made.values) + 2 + len(made.values) % 2)
    points = to_settle(resolved.run.points, names_of(resolved.used))
    per_block_s = block_seconds(resolved.run.summaries, points)
    if blocks is None or blocks > MOST_BLOCKS:
        return {"margin": margin, "blocks": None, "minutes": None, "guard": False, "least": least}
    minutes = None if per_block_s is None else blocks * per_block_s / 60
    return {
        "margin": margin,
        "blocks": blocks,
        "minutes": minutes,
        "guard": False,
        "least": least,
    }


def to_settle(points: list[dict[str, Any]], names: list[str]) -> list[str]:
    """The points that a run measures which settles a claim about `names`: these, every twin, and
    the points that the twins repeat."""
    twins = [point for point in points if point.get("twin")]
    repeated = [
        name for twin in twins for name in (twin["point"], Point.of_id(twin["point"]).untwinned.id)
    ]
    return list(dict.fromkeys([*names, *repeated]))


def block_seconds(summaries: pd.DataFrame, points: list[str]) -> float | None:
    """Seconds of a block that measures only these points: of each start that has one of them, the
    median time from the end of the start before. Starts that took turns, alive at once, are one.
    None where no block shows it."""
    samples = summaries.sort_values(["block", "t_start_ns"])
    ends = samples.groupby("block")["t_end_ns"].cummax().groupby(samples["block"]).shift()
    apart = ~(samples["t_start_ns"] < ends) & samples.groupby("block")["invocation"].diff().ne(0)
    starts = (
        samples.assign(start=apart.cumsum())
        .groupby(["block", "start"])
        .agg(
            t_start_ns=("t_start_ns", "min"),
            t_end_ns=("t_end_ns", "max"),
            points=("point", list),
            programs=("invocation", "nunique"),
        )
        .reset_index()
    )
    # Of one program alone the span of its samples is not its start; of several it nearly is.
    span_ns = (starts["t_end_ns"] - starts["t_start_ns"]).where(starts["programs"] > 1)
    starts["took_ns"] = starts.groupby("block")["t_end_ns"].diff().fillna(span_ns)
    wanted = set(points)
    mine = starts[[bool(wanted & set(names)) for names in starts["points"]]].dropna()
    if mine.empty:
        return None
    key = mine["points"].map(lambda names: tuple(sorted(names)))
    return float(mine.groupby(key)["took_ns"].median().sum()) / 1e9

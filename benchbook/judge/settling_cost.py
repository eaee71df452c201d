"""What it would take to settle an inconclusive claim: blocks, and minutes on this machine."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.estimands import Estimate, kind_of

MOST_BLOCKS = 900  # beyond this nobody waits; exact intervals end at 1000, repeats included


def price(
    claim: dict[str, Any],
    found: Estimate,
    intervals: int,
    summaries: pd.DataFrame,
    points: list[str],
) -> dict[str, Any]:
    """{margin, blocks, minutes, guard}: `margin` on the scale on which noise adds, from estimate
    to the nearest bound of the region; blocks None where no number of them settles it; `guard`
    where not the interval but the twins left the claim open.

    `points` are those that a run for this claim measures, the twins too. Error: an order of
    magnitude, see stats.blocks_to_settle.
    """
    scale = kind_of(claim["estimand"]).scale
    margin = stats.settling_margin(
        scale(found.value), [scale(bound) for bound in claim["region"] if bound is not None]
    )
    if stats.decide(found.low, found.high, *claim["region"]) != "inconclusive":
        # The interval is narrow enough: something else left the claim open.
        return {"margin": margin, "blocks": None, "minutes": None, "guard": True}
    blocks = stats.blocks_to_settle(found.values, margin, intervals)
    if blocks is not None:  # as many as now did not do
        blocks = max(blocks, len(found.values) + 2 + len(found.values) % 2)
    per_block_s = block_seconds(summaries, points)
    if blocks is None or blocks > MOST_BLOCKS:
        return {"margin": margin, "blocks": None, "minutes": None, "guard": False}
    minutes = None if per_block_s is None else blocks * per_block_s / 60
    return {"margin": margin, "blocks": blocks, "minutes": minutes, "guard": False}


def block_seconds(summaries: pd.DataFrame, points: list[str]) -> float | None:
    """Seconds of a block that measures only these points: of each start that has one of them, the
    median time from the end of the start before. None where no block tells."""
    starts = (
        summaries.groupby(["block", "invocation"])
        .agg(t_end_ns=("t_end_ns", "max"), points=("point", list))
        .reset_index()
        .sort_values(["block", "t_end_ns"])
    )
    starts["took_ns"] = starts.groupby("block")["t_end_ns"].diff()
    wanted = set(points)
    mine = starts[[bool(wanted & set(names)) for names in starts["points"]]].dropna()
    if mine.empty:
        return None
    key = mine["points"].map(lambda names: tuple(sorted(names)))
    return float(mine.groupby(key)["took_ns"].median().sum()) / 1e9

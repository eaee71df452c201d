"""Ratios of two points, and what A/A twins say of the smallest effect that counts as real."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.analyse.tables import rate
from benchbook.core.errors import BenchbookError
from benchbook.define.points import Point


def ratio_interval(
    summaries: pd.DataFrame,
    numerator: str,
    denominator: str,
    quantity: str,
    measure: str,
    claims: int,
) -> dict[str, float] | None:
    """Paired ratio of two points over blocks, with the interval simultaneous over `claims`.

    quantity rate (declared bytes ÷ time) or time. None where no block has both, and where a value
    is not above zero: the rate of a call that moves no bytes, a time below the clock's tick.
    """
    points, blocks = summaries["point"].to_numpy(), summaries["block"].to_numpy()
    times = summaries[measure].to_numpy(np.float64)
    values = rate(summaries["bytes_declared"].to_numpy(), times) if quantity == "rate" else times
    names = numerator, denominator
    sides = [
        dict(zip(blocks[points == name], values[points == name], strict=True)) for name in names
    ]
    if any(len(side) < (points == name).sum() for side, name in zip(sides, names, strict=True)):
        raise BenchbookError(
            "A block has two summaries of one point; remove the run and measure it again"
        )
    if not all(value > 0 for side in sides for value in side.values()):
        return None
    top, bottom = sides
    both = sorted(top.keys() & bottom.keys())
    if not both:
        return None
    logs = np.log([[top[block], bottom[block]] for block in both])
    return stats.ratio_interval(logs[:, 0] - logs[:, 1], claims)


def null_of(points: list[dict[str, Any]], summaries: pd.DataFrame, claims: int) -> dict[str, Any]:
    """A/A twins of an experiment at a figure's simultaneous level.

    again: the same binary twice; where its interval is without 1, it says by how much all others
    are too narrow. relinked: other padding, a floor for the effects that count as real.
    """
    twins: dict[str, list[dict[str, Any]]] = {"again": [], "relinked": []}
    for point in points:
        if not point.get("twin") or point["state"] != "ok":
            continue
        base = Point.of_id(point["point"]).untwinned.id
        # The ratio of rates, from times: a call declares the same bytes in both, or none at all.
        interval = ratio_interval(summaries, base, point["point"], "time", "median_ns", claims)
        if interval:
            twins[point["twin"]].append({"point": base, **interval})
    # Of several twins the worst speaks: the furthest of those that fail, else the widest.
    again = max(twins["again"], key=_badness, default=None)
    relinked = max(twins["relinked"], key=furthest, default=None)
    passes = None if again is None else stats.null_check(again["low"], again["high"])
    return {"again": again, "relinked": relinked, "passes": passes}


def _badness(interval: dict[str, Any]) -> tuple[bool, float]:
    fails = not stats.null_check(interval["low"], interval["high"])
    return fails, furthest(interval) if fails else interval["half_width"]


def furthest(interval: dict[str, Any]) -> float:
    """The log of the furthest bound of a ratio from 1."""
    low, high = interval["low"], interval["high"]
    return max(-math.log(low) if low > 0 else math.inf, math.log(high))


def smallest_effect(interval: dict[str, float], null: dict[str, Any]) -> stats.SmallestEffect:
    """The smallest effect that counts as real, given what these twins show."""
    again, relinked = null["again"] or {}, null["relinked"] or {}
    return stats.smallest_effect(
        interval["half_width"], again.get("half_width"), relinked.get("low"), relinked.get("high")
    )

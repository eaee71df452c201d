"""Where would the paper be right? Conditions of this host's sweep under which a claim's published
ratio appears, or under which the claim holds.

The two sides of a ratio differ in some factors; the others are its conditions, and so is a size
that only one side has. Every condition under which both sides were measured is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.define.points import Point, point_id
from benchbook.estimands import Known, Roles
from benchbook.judge.claims import estimate

METHOD = "method"
WIDEST = 2.0  # of an interval in which a published ratio counts as seen
WORDS = {"holds": "reproduced", "fails": "not_reproduced", "open": "inconclusive"}


def elsewhere(
    claim: dict[str, Any],
    roles: Roles,
    points: Known,
    summaries: pd.DataFrame,
    published: list[float],
    sizes: tuple[str, ...],
) -> dict[str, Any] | None:
    """{tried, holds, fails, open, appears, nearest}: lists of {condition, ratio, low95, high95}.

    None for a claim that is no ratio. `sizes` names the factors counted in bytes.

    A condition holds or fails by its pointwise 95 % interval, else it is open; the published ratio
    appears where that interval holds it and is no wider than WIDEST; `nearest` is the ratio that
    comes closest to it.
    """
    if claim["estimand"]["kind"] != "ratio" or not all(roles.values()):
        return None
    top, bottom = roles["numerator"][0], roles["denominator"][0]
    found = []
    for one, other, condition in _conditions(top, bottom, points, sizes):
        seen = estimate(claim, {"numerator": [one], "denominator": [other]}, summaries, 1)
        if seen is not None:
            found.append(
                {
                    "condition": condition,
                    "ratio": seen.value,
                    "low95": seen.low95,
                    "high95": seen.high95,
                    "points": [one.id, other.id],
                    "own": (one.id, other.id) == (top.id, bottom.id),
                }
            )
    low, high = (min(published), max(published)) if published else (None, None)
    appears = [
        one
        for one in found
        if low is not None
        and one["low95"] <= high
        and low <= one["high95"]
        # An interval without an end would hold any ratio.
        and one["high95"] <= WIDEST * one["low95"]
    ]
    nearest = min(found, key=lambda one: _distance(one["ratio"], low, high), default=None)
    return {
        "tried": len(found),
        "published": published,
        **{
            word: [one for one in found if _decided(one, claim["region"]) == verdict]
            for word, verdict in WORDS.items()
        },
        "appears": appears,
        "nearest": nearest if published else None,
    }


def _decided(one: dict[str, Any], region: list[float | None]) -> str:
    return stats.decide(one["low95"], one["high95"], *region)


def _distance(ratio: float, low: float | None, high: float | None) -> float:
    """How many times a ratio is beyond the published ones, 1 between them."""
    if low is None or high is None:
        return 0.0
    return max(low / ratio, ratio / high, 1.0)


def _conditions(
    top: Point, bottom: Point, points: Known, sizes: tuple[str, ...]
) -> list[tuple[Point, Point, dict[str, Any]]]:
    """Both sides under every condition that was measured."""
    both = {**top.factors, **bottom.factors}
    # A method is what is compared, not a condition of it.
    shared = [
        name
        for name in both
        if name != METHOD
        and (
            top.factors.get(name) == bottom.factors.get(name)
            or (name in sizes and (name in top.factors) != (name in bottom.factors))
        )
    ]
    measured = [
        one
        for one in points.values()
        if one["state"] == "ok" and not one.get("twin") and not one.get("emulates")
    ]
    factors = [one["factors"] for one in measured]
    values = {
        name: list(dict.fromkeys(one[name] for one in factors if name in one)) for name in shared
    }
    variants = (
        list(dict.fromkeys(one["variant"] for one in measured if not one.get("peer")))
        if top.variant == bottom.variant
        else [None]
    )
    known = {one["point"] for one in measured}
    found = []
    for variant, *chosen in product(variants, *values.values()):
        condition = dict(zip(shared, chosen, strict=True))
        sides = [_moved(side, variant, condition) for side in (top, bottom)]
        if {side.id for side in sides} <= known:
            named = condition if variant is None else {"variant": variant, **condition}
            found.append((sides[0], sides[1], named))
    return found


def _moved(point: Point, variant: str | None, condition: dict[str, Any]) -> Point:
    factors = {name: condition.get(name, value) for name, value in point.factors.items()}
    name = variant or point.variant
    return replace(point, id=point_id(name, factors), variant=name, factors=factors)

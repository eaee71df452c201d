"""Where would the paper be right? Conditions of this host's sweep under which a claim's published
ratio appears, or under which the claim holds.

The two sides of a ratio differ in some factors; the others are its conditions, and so is a size
that only one side has. Every condition under which both sides were measured is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from benchbook.define.points import Point
from benchbook.estimands import Known
from benchbook.judge.resolved_claim import ResolvedClaim, estimate

METHOD = "method"
WIDEST = 2.0  # of an interval in which a published ratio counts as seen
WORDS = {"holds": "reproduced", "fails": "not_reproduced", "open": "inconclusive"}


def elsewhere(
    resolved: ResolvedClaim, published: list[float], sizes: tuple[str, ...]
) -> dict[str, Any] | None:
    """{tried, holds, fails, open, appears, nearest}: lists of {condition, ratio, low95, high95}.

    None for a claim that is no ratio. `sizes` names the factors counted in bytes.

    A condition holds or fails by its pointwise 95 % interval, else it is open; the published ratio
    appears where that interval holds it and is no wider than WIDEST; `nearest` is the ratio that
    comes closest to it.
    """
    claim, roles = resolved.claim, resolved.roles
    if claim.kind != "ratio" or not all(roles.values()):
        return None
    own = roles["numerator"][0], roles["denominator"][0]
    ratios: list[dict[str, Any]] = []
    for top, bottom, condition in _conditions(*own, resolved.run.known, sizes):
        sides = {"numerator": [top], "denominator": [bottom]}
        made = estimate(claim, sides, resolved.run.summaries, 1)
        if made is not None:
            ratios.append(
                {
                    "condition": condition,
                    "ratio": made.value,
                    "low95": made.low95,
                    "high95": made.high95,
                    "points": [top.id, bottom.id],
                    "own": (top.id, bottom.id) == (own[0].id, own[1].id),
                }
            )
    low, high = (min(published), max(published)) if published else (None, None)
    appears = [
        ratio
        for ratio in ratios
        if low is not None
        and high is not None
        and ratio["low95"] <= high
        and low <= ratio["high95"]
        # An interval without an end would hold any ratio.
        and ratio["high95"] <= WIDEST * ratio["low95"]
    ]
    nearest = min(ratios, key=lambda ratio: _distance(ratio["ratio"], low, high), default=None)
    return {
        "tried": len(ratios),
        "published": published,
        **{
            word: [
                ratio for ratio in ratios if claim.holds(ratio["low95"], ratio["high95"]) == verdict
            ]
            for word, verdict in WORDS.items()
        },
        "appears": appears,
        "nearest": nearest if published else None,
    }


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
        point
        for point in points.values()
        if point["state"] == "ok" and not point.get("twin") and not point.get("emulates")
    ]
    settings = [point["factors"] for point in measured]
    values = {
        name: list(dict.fromkeys(factors[name] for factors in settings if name in factors))
        for name in shared
    }
    variants = (
        list(dict.fromkeys(point["variant"] for point in measured if not point.get("peer")))
        if top.variant == bottom.variant
        else [None]
    )
    ids = {point["point"] for point in measured}
    conditions = []
    for variant, *chosen in product(variants, *values.values()):
        condition = dict(zip(shared, chosen, strict=True))
        sides = [_moved(side, variant, condition) for side in (top, bottom)]
        if {side.id for side in sides} <= ids:
            named = condition if variant is None else {"variant": variant, **condition}
            conditions.append((sides[0], sides[1], named))
    return conditions


def _moved(point: Point, variant: str | None, condition: dict[str, Any]) -> Point:
    factors = {name: condition.get(name, value) for name, value in point.factors.items()}
    name = variant or point.variant
    return replace(point, variant=name, factors=factors)

"""How much longer some points take than others: the times of `minuend` added, less those of
`subtrahend`, in each block. With two points on each side it is how much a difference changes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from benchbook.core.units import TIME_UNITS
from benchbook.estimands import Estimate, Roles, names_of, of_times

ABSOLUTE = True  # what is printed as a rate gives none of these


def scale(value: float) -> float:
    """On the scale on which noise adds."""
    return value


def shown(scaled: float) -> float:
    """In the claim's unit, which has the same scale."""
    return scaled


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"difference of {estimand['quantity']}s, {estimand['unit']}"


def _sides(roles: Roles) -> tuple[list[str], list[str]]:
    more, less = ([point.id for point in roles[side]] for side in ("minuend", "subtrahend"))
    return more, less


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    del estimand
    return list(zip(*_sides(roles), strict=True))


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    more, less = _sides(roles)
    return {("difference", tuple(sorted(more)), tuple(sorted(less)))}


def _of(more: Any, less: Any, estimand: dict[str, Any]) -> Any:
    return (more - less) / TIME_UNITS[estimand["unit"]]


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of times in ns by block and point."""
    whole = np.exp(logs[names_of(roles)].dropna())
    if whole.empty:
        return None
    more, less = (whole[side].sum(axis=1).to_numpy(float) for side in _sides(roles))
    per = TIME_UNITS[estimand["unit"]]
    return of_times(_of(more, less, estimand), intervals, base=float(np.median(less)) / per)


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The difference of two sides, from one time per point."""
    more, less = (sum(np.exp(logs[name]) for name in side) for side in _sides(roles))
    return float(_of(more, less, estimand))

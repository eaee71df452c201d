"""How much closer together some points lie than others: fastest ÷ slowest of `numerator` over the
same of `denominator`, in each block. Below 1 the points of the numerator agree better."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from benchbook.estimands import Estimate, Roles, exp, log, names_of, of_values

scale, shown = log, exp


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"ratio of (largest ÷ smallest {estimand['quantity']})"


def _sides(roles: Roles) -> list[list[str]]:
    return [[point.id for point in roles[side]] for side in ("numerator", "denominator")]


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """Only the points that the two sides do not share make a difference."""
    del estimand
    top, bottom = _sides(roles)
    first = [name for name in top if name not in bottom] or top
    second = [name for name in bottom if name not in top] or bottom
    return [(top, base) for top in first for base in second if top != base]


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    return {(estimand["quantity"], *(tuple(sorted(side)) for side in _sides(roles)))}


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of the quantity by block and point."""
    del estimand
    whole = logs[names_of(roles)].dropna()
    if whole.empty:
        return None
    top, bottom = (np.ptp(whole[side].to_numpy(float), axis=1) for side in _sides(roles))
    return of_values(top - bottom, intervals, shown=exp, effect=abs, null=1.0)


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The ratio of two ranges, from one value per point."""
    del estimand
    top, bottom = (np.ptp([logs[name] for name in side]) for side in _sides(roles))
    return exp(float(top - bottom))

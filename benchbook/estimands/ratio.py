"""The ratio of two points: quantity of `numerator` ÷ that of `denominator`, paired in blocks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from benchbook.estimands import Estimate, Roles, exp, log, of_values

scale, shown = log, exp


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    return f"ratio of {estimand['quantity']}s"


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    del estimand
    return [(roles["numerator"][0].id, roles["denominator"][0].id)]


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    return {(estimand["quantity"], *sorted(pairs(estimand, roles)[0]))}


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of the quantity by block and point."""
    top, bottom = pairs(estimand, roles)[0]
    both = logs[[top, bottom]].dropna()
    if both.empty:
        return None
    values = (both[top] - both[bottom]).to_numpy(float)
    return of_values(values, intervals, shown=exp, effect=abs, null=1.0)


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The ratio of two points, from one value per point."""
    top, bottom = pairs(estimand, roles)[0]
    return exp(logs[top] - logs[bottom])

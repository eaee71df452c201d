"""What each step of a factor adds: the least-squares slope of the times of `points` over the values
of `over`, in each block. `ways: 2` divides it by two: of a round trip, which makes each step
twice, it is what one way adds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
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
    way = ", one way" if estimand.get("ways", 1) == 2 else ""
    return f"{estimand['quantity']} per step of {estimand['over']}{way}, {estimand['unit']}"


def steps_of(estimand: dict[str, Any], roles: Roles) -> tuple[list[str], list[float]]:
    """The points and the values of the factor there, both in the order of these values."""
    values = {point.id: float(point.factors[estimand["over"]]) for point in roles["points"]}
    names = sorted(values, key=lambda name: values[name])
    return names, [values[name] for name in names]


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    first, *others = steps_of(estimand, roles)[0]
    return [(name, first) for name in others]


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    return {("slope", tuple(sorted(names_of(roles))))}


def of_blocks(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame
) -> tuple[pd.Series, pd.DataFrame]:
    """Slope of each block that holds all points, in the claim's unit; their times in ns."""
    names, values = steps_of(estimand, roles)
    whole = np.exp(logs[names].dropna())
    per = TIME_UNITS[estimand["unit"]] * estimand.get("ways", 1)
    slopes = stats.slopes(values, whole.to_numpy(float)) / per
    return pd.Series(slopes, index=whole.index), whole


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of times in ns by block and point."""
    names, values = steps_of(estimand, roles)
    if logs[names].dropna().empty:
        return None
    slopes, whole = of_blocks(estimand, roles, logs)
    # Its effect is what all steps together make of the time before the first.
    span = (values[-1] - values[0]) * TIME_UNITS[estimand["unit"]] * estimand.get("ways", 1)
    return of_times(slopes.to_numpy(), intervals, base=float(whole[names[0]].median()) / span)


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The slope, from one time per point."""
    table = pd.DataFrame([logs])
    return float(of_blocks(estimand, roles, table)[0].iloc[0])

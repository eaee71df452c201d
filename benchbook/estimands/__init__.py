"""What a claim estimates: one module per kind, found by its name.

A measured kind has `estimate(estimand, roles, logs, intervals)`, with `pairs` and `compared`; a
kind of fact has `look(estimand, facts)`. `roles` names the points of each side, as paper.yaml does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook import stats
from benchbook.core import plugins
from benchbook.core.reason_codes import Code, Reason
from benchbook.core.units import RATE
from benchbook.define.catalogue import settings_of
from benchbook.define.points import NOT_IN_PRESET, Point, expand

POINTWISE = 0.95
MOST_READINGS = 200  # of a published table in which cells stand for one point
Roles = dict[str, list[Point]]
Values = NDArray[np.float64]
Known = dict[str, dict[str, Any]]  # point -> {state, reason, …}
ABSENT = {"state": "absent", "reason": NOT_IN_PRESET}


@dataclass(frozen=True)
class Estimate:
    """A claim's estimate with its intervals: `low`, `high` simultaneous, `low95`, `high95` not.

    `values` (blocks,) are those that it rests on, on the scale on which noise adds (logs of
    ratios); `half_width` is on that scale. `effect` is its distance from no effect as a log, and
    `null` the value of no effect, None where every verdict rests on an effect. `distance` says how
    far a log ratio of two points can move the estimate on the scale of its kind. `notes` are found
    only when asked for: a null distribution takes most of the time, and few estimates need it.
    """

    value: float
    low: float
    high: float
    low95: float
    high95: float
    half_width: float
    values: Values
    effect: float
    null: float | None
    distance: Callable[[float], float] = float
    beside: Callable[[], dict[str, Any]] = dict

    @property
    def notes(self) -> dict[str, Any]:
        """What else is to be said of it."""
        return self.beside()


@dataclass(frozen=True)
class Fact:
    """What was found without measuring: a number (None where it could not be found) and why."""

    value: float | None
    reason: Reason


class Kind(Protocol):
    """What a module of this package holds; of the two groups only one."""

    def unit(self, estimand: dict[str, Any]) -> str:
        """`ratio of rates`."""

    def scale(self, value: float) -> float:
        """A value of the claim's unit on the scale on which noise adds."""

    def shown(self, scaled: float) -> float:
        """A value on that scale in the claim's unit: the inverse of `scale`."""

    def pairs(self, estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
        """The ratios whose widths decide when a run has measured enough."""

    def compared(self, estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
        """A key for each interval, so that what two claims share counts once."""

    def estimate(
        self, estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
    ) -> Estimate | None:
        """From logs of the quantity, blocks down and points across; None without a block."""

    def of_one(self, estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
        """What the claim estimates, from one value per point, such as a published table's."""

    def look(self, estimand: dict[str, Any], facts: dict[str, Any]) -> Fact:
        """The number out of evidence and audit."""

    # Where a kind needs them:
    #   without(estimand, roles, bad) -> Roles | None: what is left where some points cannot run
    #   of_cells(estimand, roles, logs) -> float: from all cells of each point at once
    #   ABSOLUTE: that it is in a unit of time, which printed rates do not give


def kind_of(estimand: dict[str, Any]) -> Any:
    """The module of an estimand's kind (see Kind)."""
    return plugins.load(__name__, estimand["kind"])


def is_measured(estimand: dict[str, Any]) -> bool:
    """Whether it is estimated from measured points, not a fact."""
    return bool(settings_of(estimand)) and not hasattr(kind_of(estimand), "look")


def roles_of(estimand: dict[str, Any], content: dict[str, Any], sizes: dict[str, Any]) -> Roles:
    """The points of each side on this host; a side is empty where its size is unknown."""
    return {
        role: [point for setting in settings for point in expand(content, [setting], sizes)[0]]
        for role, settings in settings_of(estimand).items()
    }


def names_of(roles: Roles) -> list[str]:
    """The ids of all points, each once."""
    return list(dict.fromkeys(point.id for points in roles.values() for point in points))


def usable(estimand: dict[str, Any], roles: Roles, points: Known) -> tuple[Roles, Reason | None]:
    """The points that a claim can be decided on, and why it cannot (None where it can).

    What only emulates decides nothing, however well it was measured. Of a range, points that
    cannot run here are left out while enough remain.
    """
    if any(not own for own in roles.values()):
        return roles, Reason(Code.SIZE_UNKNOWN)
    states = {name: points.get(name, ABSENT) for name in names_of(roles)}
    for name, point in states.items():
        if point.get("emulates"):
            return roles, Reason(Code.EMULATED, {"point": name, "why": point["emulates"]})
    lost = {name: point for name, point in states.items() if point["state"] != "ok"}
    if not lost:
        return roles, None
    why = missing(*next(iter(lost.items())))
    without = getattr(kind_of(estimand), "without", None)
    if without is None or any(point["state"] == "absent" for point in lost.values()):
        return roles, why
    if any(point["state"] != "cannot_run" for point in lost.values()):
        return roles, why  # what failed is not what this machine cannot hold
    kept: Roles | None = without(estimand, roles, set(lost))
    return (roles, why) if kept is None else (kept, None)


def missing(name: str, point: dict[str, Any]) -> Reason:
    """Why the point of this id has no number, as its run recorded it."""
    if point["state"] == ABSENT["state"]:
        return Reason(Code.NOT_IN_PRESET, {"point": name})
    return Reason(Code.POINT_MISSING, {"point": name, "why": point["reason"]})


def asked(
    claims: list[dict[str, Any]], content: dict[str, Any], sizes: dict[str, Any], points: Known
) -> list[tuple[dict[str, Any], Roles]]:
    """The claims of a figure that can be measured, each with the points that it rests on."""
    measurable = []
    for claim in claims:
        if is_measured(claim["estimand"]):
            roles = roles_of(claim["estimand"], content, sizes)
            used, why = usable(claim["estimand"], roles, points)
            if not why:
                measurable.append((claim, used))
    return measurable


def intervals_of(claims: list[tuple[dict[str, Any], Roles]]) -> int:
    """How many intervals these claims need together, those that two of them share counted once."""
    keys: set[Hashable] = set()
    for claim, roles in claims:
        estimand = claim["estimand"]
        # By another statistic it is another interval.
        own = claim["statistic"]
        keys |= {(own, key) for key in kind_of(estimand).compared(estimand, roles)}
    return len(keys)


def published(
    estimand: dict[str, Any], roles: Roles, printed: dict[str, list[float]], quantity: str = RATE
) -> list[float]:
    """The number that the source's own rates, or times in ns (`given`), give, one per reading where
    several cells stand for a point; empty where a point is not among them."""
    names = names_of(roles)
    complete = bool(names) and all(roles.values()) and all(printed.get(name) for name in names)
    # What stands on two sides the source printed once for each, and cells are kept by point.
    shared = sum(len(points) for points in roles.values()) > len(names)
    kind = kind_of(estimand)
    none_of_rates = getattr(kind, "ABSOLUTE", False) and quantity == RATE
    if not complete or shared or none_of_rates:
        return []
    logs = _printed_logs(estimand, roles, printed, quantity)
    if hasattr(kind, "of_cells"):
        return [kind.of_cells(estimand, roles, logs)]
    readings = itertools.islice(itertools.product(*logs.values()), MOST_READINGS)
    numbers = [
        kind.of_one(estimand, roles, dict(zip(logs, values, strict=True))) for values in readings
    ]
    return [value for value in numbers if not math.isnan(value)]


def _printed_logs(
    estimand: dict[str, Any], roles: Roles, printed: dict[str, list[float]], quantity: str
) -> dict[str, list[float]]:
    """Logs of the quantity out of what is printed: a time is bytes ÷ rate."""
    logs = {}
    for point in (point for points in roles.values() for point in points):
        own = [math.log(value) for value in printed[point.id] if value > 0]
        declared = math.log(point.factors.get("bytes", 1))
        same = estimand["quantity"] == quantity
        logs[point.id] = own if same else [declared - value for value in own]
    return logs


def of_values(
    values: Values,
    intervals: int,
    shown: Callable[[float], float],
    effect: Callable[[float], float],
    null: float | None,
) -> Estimate:
    """The Hodges-Lehmann estimate of one value per block, shown in the claim's unit.

    Error: that of stats.signed_rank_interval.
    """
    level = stats.adjusted_level(intervals)
    each = stats.signed_rank_interval(values, level)
    point = stats.signed_rank_interval(values, POINTWISE)
    return Estimate(
        value=shown(each.estimate),
        low=shown(each.low),
        high=shown(each.high),
        low95=shown(point.low),
        high95=shown(point.high),
        half_width=(each.high - each.low) / 2,
        values=values,
        effect=effect(each.estimate),
        null=null,
    )


def widened(estimand: dict[str, Any], made: Estimate, log_ratio: float) -> Estimate:
    """The estimate with every end of its intervals further out, by as much as a log ratio that
    nothing in the programs made can move it."""
    kind, by = kind_of(estimand), made.distance(log_ratio)

    def further(end: float, by: float) -> float:
        return float(kind.shown(kind.scale(end) + by))

    return replace(
        made,
        low=further(made.low, -by),
        high=further(made.high, by),
        low95=further(made.low95, -by),
        high95=further(made.high95, by),
        half_width=made.half_width + log_ratio,
    )


def of_times(values: Values, intervals: int, base: float) -> Estimate:
    """The estimate of one time per block, in the claim's unit, where no effect is 0.

    `base`: the time to which it adds, in that unit, so that effect and half-width are logs as those
    of ratios are.
    """
    estimate = of_values(
        values,
        intervals,
        shown=lambda value: value,
        effect=lambda value: math.log1p(abs(value) / base),
        null=0.0,
    )
    return replace(
        estimate,
        half_width=math.log1p(estimate.half_width / base),
        distance=lambda log_ratio: base * math.expm1(log_ratio),
    )


def log(value: float) -> float:
    """The natural logarithm, minus infinity at an open end, which is 0."""
    return math.log(value) if value > 0 else -math.inf


def exp(value: float) -> float:
    """e^value, without overflow at an open end."""
    return math.exp(value) if value < 700 else math.inf

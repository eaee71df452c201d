"""A claim with the points of one run that it rests on: resolved once, handed on to all that judge.

What is estimated is the business of benchbook/estimands/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from benchbook import estimands, stats
from benchbook.analyse.tables import rate
from benchbook.core.reason_codes import Reason
from benchbook.core.units import RATE
from benchbook.estimands import (
    Estimate,
    Known,
    Roles,
    is_measured,
    kind_of,
    names_of,
    roles_of,
    usable,
)

MEASURES = {"median": "median_ns", "mean": "mean_ns", "best": "best_ns"}
Region = tuple[float | None, float | None]  # None: without an end


@dataclass(frozen=True)
class Claim:
    """A claim as paper.yaml has it; `region` is what counts as holding.

    `estimand` stays a mapping: each kind of benchbook/estimands/ has keys of its own, and plans
    read them too.
    """

    estimand: dict[str, Any]
    region: Region = (None, None)
    statistic: str | None = None
    id: str = ""
    text: str = ""
    region_reason: str = ""
    scope: str = ""
    requires: str | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    repeats: str | None = None
    about: Sequence[str] = ()
    cells: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    beside: dict[str, Any] | None = None

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Claim:
        """The claim in the mapping of its figure."""
        return cls(**written)

    @property
    def kind(self) -> str:
        """That of its estimand."""
        return str(self.estimand["kind"])

    @property
    def is_measured(self) -> bool:
        """Whether it is estimated from measured points, not a fact."""
        return is_measured(self.estimand)

    def holds(self, low: float, high: float) -> str:
        """The verdict of an interval alone."""
        verdict: str = stats.decide(low, high, *self.region)
        return verdict


@dataclass(frozen=True)
class Measured:
    """What one run says: its points, and its summaries by block."""

    points: list[dict[str, Any]]
    summaries: pd.DataFrame

    @property
    def known(self) -> Known:
        """The points by id."""
        return {point["point"]: point for point in self.points}


@dataclass(frozen=True)
class ResolvedClaim:
    """A claim on one run.

    `roles` are its points as paper.yaml names them, `used` those of them that it rests on here.
    `missing` says why it cannot be estimated. `intervals` hold simultaneously, and `estimate` has
    been made for that many; it is None where no block holds all points, or something is missing.
    """

    claim: Claim
    run: Measured
    roles: Roles
    used: Roles
    missing: Reason | None = None
    intervals: int = 1
    estimate: Estimate | None = None

    @property
    def estimand(self) -> dict[str, Any]:
        """What is estimated, as paper.yaml has it."""
        return self.claim.estimand

    @property
    def left_out(self) -> list[str]:
        """Ids of its points that cannot run here, where enough others remain."""
        used = names_of(self.used)
        return [name for name in names_of(self.roles) if name not in used]

    def estimated(self, intervals: int) -> ResolvedClaim:
        """This claim with its estimate, simultaneous over that many intervals."""
        made = None
        if self.missing is None:
            made = estimate(self.claim, self.used, self.run.summaries, intervals)
        return replace(self, intervals=intervals, estimate=made)


def resolve_claim(
    claim: Claim, content: dict[str, Any], sizes: dict[str, Any], run: Measured
) -> ResolvedClaim:
    """A measured claim with its points on this run; `content` is the experiment's definition."""
    roles = roles_of(claim.estimand, content, sizes)
    used, missing = usable(claim.estimand, roles, run.known)
    return ResolvedClaim(claim, run, roles, used, missing)


def intervals_of(claims: list[ResolvedClaim]) -> int:
    """How many intervals those of these claims need together that can be estimated; 1 at least."""
    can_be = [
        ({"estimand": claim.estimand, "statistic": claim.claim.statistic}, claim.used)
        for claim in claims
        if claim.missing is None
    ]
    return max(estimands.intervals_of(can_be), 1)


def estimate(
    claim: Claim,
    roles: Roles,
    summaries: pd.DataFrame,
    intervals: int,
    measure: str | None = None,
) -> Estimate | None:
    """The claim's estimate from summaries [block, point, times in ns, …]; None without a block.

    `measure`: the column of times, else that of the claim's statistic.
    """
    estimand = claim.estimand
    column = measure or MEASURES[claim.statistic or "median"]
    logs = logs_of(estimand, names_of(roles), summaries, column)
    if logs is None:
        return None
    made: Estimate | None = kind_of(estimand).estimate(estimand, roles, logs, intervals)
    return made


def logs_of(
    estimand: dict[str, Any], names: list[str], summaries: pd.DataFrame, measure: str
) -> pd.DataFrame | None:
    """Logs of an estimand's quantity, blocks down and points across: bytes per second, or ns. None
    where a point was not measured at all."""
    own = summaries[summaries["point"].isin(names)]
    if own["point"].nunique() < len(names):
        return None
    column = own[measure]
    values = rate(own["bytes_declared"], column) if estimand["quantity"] == RATE else column
    table = own.assign(value=values)
    logs = np.log(table.pivot(index="block", columns="point", values="value")).sort_index()
    return logs if set(names) <= set(logs.columns) else None

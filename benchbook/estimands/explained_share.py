"""How much of an odd factor one cause explains: log(odd ÷ removed) ÷ log(odd ÷ base) by block.

`odd` over `base` is the factor, `removed` is `odd` with only that cause removed; 1 is all of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.estimands import Estimate, Roles, exp, names_of, of_values


def scale(value: float) -> float:
    """On the scale on which noise adds."""
    return value


def shown(scaled: float) -> float:
    """In the claim's unit, which has the same scale."""
    return scaled


def unit(estimand: dict[str, Any]) -> str:
    """What the number is, in words."""
    del estimand
    return "share of the log factor"


def _names(roles: Roles) -> tuple[str, str, str]:
    odd, base, removed = (roles[side][0].id for side in ("odd", "base", "removed"))
    return odd, base, removed


def pairs(estimand: dict[str, Any], roles: Roles) -> list[tuple[str, str]]:
    """The ratios whose widths decide when a run has measured enough."""
    del estimand
    odd, base, removed = _names(roles)
    return [(odd, base), (odd, removed)]


def compared(estimand: dict[str, Any], roles: Roles) -> set[Hashable]:
    """A key for each interval that it needs."""
    return {(estimand["quantity"], "share", *_names(roles))}


def estimate(
    estimand: dict[str, Any], roles: Roles, logs: pd.DataFrame, intervals: int
) -> Estimate | None:
    """From logs of the quantity by block and point."""
    del estimand
    odd, base, removed = _names(roles)
    whole = logs[names_of(roles)].dropna()
    factor = (whole[odd] - whole[base]).to_numpy(float)
    without = (whole[odd] - whole[removed]).to_numpy(float)
    # Where a block shows no factor at all there is nothing that a cause could have a share of.
    if not len(whole) or not np.all(factor > 0):
        return None
    center = stats.hodges_lehmann(factor)
    share = of_values(
        without / factor,
        intervals,
        shown=lambda value: value,
        effect=lambda _: abs(center),
        null=None,
    )
    removed_factor = stats.hodges_lehmann(factor - without)
    factors = {"factor": exp(center), "factor_removed": exp(removed_factor)}
    # In logs, as the effect beside which it stands.
    half_width = share.half_width * abs(center)
    return replace(
        share,
        half_width=half_width,
        distance=lambda log_ratio: log_ratio / abs(center),
        beside=lambda: factors,
    )


def of_one(estimand: dict[str, Any], roles: Roles, logs: dict[str, float]) -> float:
    """The explained share, from one value per point; NaN where there is no factor."""
    del estimand
    odd, base, removed = _names(roles)
    factor = logs[odd] - logs[base]
    return (logs[odd] - logs[removed]) / factor if factor else math.nan

"""The claims of one figure: verdicts, their price, what settled them, and where they would hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.analyse import pairwise
from benchbook.analyse.null_tests import null_of
from benchbook.core.units import TIME_UNITS, quantity_of
from benchbook.define.catalogue import moved
from benchbook.estimands import (
    Known,
    Roles,
    asked,
    intervals_of,
    is_measured,
    names_of,
    roles_of,
    usable,
)
from benchbook.judge.claims import Verdict, estimate, judge_claim, judge_fact
from benchbook.judge.condition_search import elsewhere
from benchbook.judge.settling_cost import price

SIDES = ("numerator", "denominator")


@dataclass(frozen=True)
class Measured:
    """What one run says: its points, and its summaries by block."""

    points: list[dict[str, Any]]
    summaries: pd.DataFrame

    @property
    def known(self) -> Known:
        """The points by id."""
        return {point["point"]: point for point in self.points}


def judge_claims(
    figure: dict[str, Any],
    content: dict[str, Any],
    sizes: dict[str, Any],
    run: Measured,
    facts: dict[str, Any],
    printed: dict[str, list[float]],
) -> tuple[list[Verdict], dict[str, Any]]:
    """Verdicts of all claims of a figure, simultaneous over those that are measured, and the
    twins' null. `content` is the experiment's definition, `printed` the source's cells by point,
    of the figure's quantity."""
    claims = figure.get("claims", [])
    intervals = max(intervals_of(asked(claims, content, sizes, run.known)), 1)
    null = null_of(run.points, run.summaries, intervals)
    in_bytes = tuple(
        name for name, factor in content["factors"].items() if factor.get("unit") == "bytes"
    )
    verdicts = []
    for claim in claims:
        if not is_measured(claim["estimand"]):
            own = {"price": None, "elsewhere": None} | _printed_ratio(claim, facts)
            verdicts.append(judge_fact(claim, facts) | own)
            continue
        roles = roles_of(claim["estimand"], content, sizes)
        per = TIME_UNITS.get(figure.get("y_unit", ""), 1)
        cells = printed | _own_cells(claim, roles, facts, per)
        given = quantity_of(figure.get("y_unit", ""))
        verdict = judge_claim(claim, roles, run.known, run.summaries, null, intervals, cells, given)
        verdict["beside"] = _beside(claim, content, sizes, run)
        verdict["price"] = _price(claim, roles, verdict, run, intervals)
        verdict["elsewhere"] = elsewhere(
            claim, roles, run.known, run.summaries, verdict["published"], in_bytes
        )
        verdicts.append(verdict)
    return verdicts, null


def judge_alone(
    claim: dict[str, Any],
    content: dict[str, Any],
    sizes: dict[str, Any],
    run: Measured,
    intervals: int,
) -> Verdict:
    """The verdict of one claim on a run of its own, at the level of its figure; with its price."""
    roles = roles_of(claim["estimand"], content, sizes)
    null = null_of(run.points, run.summaries, intervals)
    verdict = judge_claim(claim, roles, run.known, run.summaries, null, intervals)
    return verdict | {"price": _price(claim, roles, verdict, run, intervals), "null": null}


def to_settle(points: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Those points and what decides beside them: every twin, and the points that they repeat."""
    twins = [one for one in points if one.get("twin")]
    again = [
        name
        for one in twins
        for name in (one["point"], one["point"].replace(f"~{one['twin']}", "", 1))
    ]
    return list(dict.fromkeys([*names, *again]))


def _price(
    claim: dict[str, Any], roles: Roles, verdict: Verdict, run: Measured, intervals: int
) -> dict[str, Any] | None:
    if verdict["verdict"] != "inconclusive":
        return None
    used, _ = usable(claim["estimand"], roles, run.known)
    found = estimate(claim, used, run.summaries, intervals)
    if found is None:
        return None
    return price(claim, found, intervals, run.summaries, to_settle(run.points, names_of(used)))


def _beside(
    claim: dict[str, Any], content: dict[str, Any], sizes: dict[str, Any], run: Measured
) -> dict[str, Any] | None:
    """The same estimated under other factors, with its pointwise interval: {setting, estimate,
    pointwise, blocks, within}; None where the claim names none, or it was not measured."""
    estimand = moved(claim)
    if not estimand:
        return None
    roles = roles_of(estimand, content, sizes)
    used, why = usable(estimand, roles, run.known)
    found = None if why else estimate({**claim, "estimand": estimand}, used, run.summaries, 1)
    if found is None:
        return None
    return {
        "setting": claim["beside"],
        "estimate": found.value,
        "pointwise": [found.low95, found.high95],
        "blocks": len(found.values),
        "by_interval": stats.decide(found.low95, found.high95, *claim["region"]),
    }


def printed_by_point(figures: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The numbers that the source prints for each point, in the order of its tables: rates as they
    stand there, times in ns."""
    found: dict[str, list[float]] = {}
    for figure in figures:
        per = TIME_UNITS.get(figure["y_unit"], 1)
        for row in figure["rows"]:
            value = pairwise.printed(row)
            if value is not None and row["point"]:
                found.setdefault(row["point"], []).append(value * per)
    return found


def _printed_ratio(claim: dict[str, Any], facts: dict[str, Any]) -> Verdict:
    """The ratio that the source prints of what no host measures, where the claim names its cells;
    else nothing."""
    cells = claim.get("cells")
    if not cells:
        return {}
    top, bottom = (facts["cell"](cells[side]) for side in SIDES)
    return {"published": [top / bottom]}


def _own_cells(
    claim: dict[str, Any], roles: Roles, facts: dict[str, Any], per: float
) -> dict[str, list[float]]:
    """The cells that a claim names itself, where the source's stand at other settings; in units of
    `per` ns where they are times."""
    return {
        roles[side][0].id: [facts["cell"](cell) * per]
        for side, cell in claim.get("cells", {}).items()
        if roles[side]
    }

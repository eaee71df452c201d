"""Claims -> verdicts by the interval rule, the machine's own null first.

I is the simultaneous interval, R the region that counts as holding: I within R reproduced, I and
R disjoint not reproduced, else inconclusive. A machine that fails its own null decides nothing.
What is estimated is the business of benchbook/estimands/.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.analyse.null_tests import smallest_effect
from benchbook.analyse.tables import rate
from benchbook.core.number_format import with_interval
from benchbook.core.units import RATE
from benchbook.define.points import Point, point_id
from benchbook.estimands import Estimate, Known, Roles, kind_of, names_of, published, usable
from benchbook.stats.states import MIXED

MEASURES = {"median": "median_ns", "mean": "mean_ns", "best": "best_ns"}
WORDS = {
    "reproduced": "reproduced",
    "not_reproduced": "not reproduced",
    "inconclusive": "inconclusive",
    "not_measurable_here": "not measurable here",
}
LIMITS = {
    "own": "its own interval",
    "a_a": "the same binary measured twice",
    "relinked": "the same flags linked with other padding",
}
LEAST_OVERLAP = 0.8  # of the time of all processes together, for rates that are added
Verdict = dict[str, Any]


def judge_claim(
    claim: dict[str, Any],
    roles: Roles,
    points: Known,
    summaries: pd.DataFrame,
    null: dict[str, Any],
    intervals: int,
    printed: dict[str, list[float]] | None = None,
    given: str = RATE,
) -> Verdict:
    """The verdict of a claim on measured points: {verdict, estimate, interval, unit, reason, …}.

    `roles` are its points on this host, `points` what the run says of each, `null` the twins',
    `intervals` how many hold simultaneously, `printed` the source's cells by point, which are
    rates or, as `given` says, times in ns.
    """
    estimand = claim["estimand"]
    used, why = usable(estimand, roles, points)
    common = _declared(claim) | {
        "points": {role: _ids(estimand, own) for role, own in roles.items()},
        "published": published(estimand, roles, printed or {}, given),
        "left_out": [name for name in names_of(roles) if name not in names_of(used)],
        "intervals": intervals,
    }
    if why:
        return {**common, **_no_numbers("not_measurable_here", why)}
    found = estimate(claim, used, summaries, intervals)
    if found is None:
        return {**common, **_no_numbers("inconclusive", _nothing(estimand))}
    verdict, reason = _decided(claim, found, null)
    if apart := _apart(used, points):
        verdict, reason = "inconclusive", apart
    if common["left_out"]:
        of = len(names_of(roles))
        reason += (
            f"; over {of - len(common['left_out'])} of {of} points, the others cannot run here"
        )
    return {
        **common,
        "verdict": verdict,
        "estimate": _number(found.value),
        "interval": [_number(found.low), _number(found.high)],
        "pointwise": [_number(found.low95), _number(found.high95)],
        "blocks": len(found.values),
        "smallest_effect": _number(_smallest(found, null).ratio),
        "reason": reason,
        "notes": found.notes,
        "robustness": robustness(claim, used, summaries, intervals, found),
    }


def judge_fact(claim: dict[str, Any], facts: dict[str, Any]) -> Verdict:
    """The same of a claim about a fact, such as a limit of the linker: a number without noise.

    `facts`: {limits, trials} of the evidence, {audit} of the paper.
    """
    found = kind_of(claim["estimand"]).look(claim["estimand"], facts)
    common = _declared(claim) | {"points": {}, "published": [], "left_out": [], "intervals": 0}
    common["beside"] = None
    if found.value is None:
        return {**common, **_no_numbers("not_measurable_here", found.reason)}
    ends = [found.value, found.value]
    verdict = stats.decide(*ends, *claim["region"])
    return {
        **common,
        "verdict": verdict,
        "estimate": found.value,
        "interval": ends,
        "pointwise": ends,
        "blocks": 0,
        "smallest_effect": None,
        "reason": found.reason,
        "notes": {},
        "robustness": "",
    }


def estimate(
    claim: dict[str, Any],
    roles: Roles,
    summaries: pd.DataFrame,
    intervals: int,
    measure: str | None = None,
) -> Estimate | None:
    """The claim's estimate from summaries [block, point, times in ns, …]; None without a block."""
    estimand = claim["estimand"]
    column = measure or MEASURES[claim["statistic"]]
    logs = logs_of(estimand, names_of(roles), summaries, column)
    if logs is None:
        return None
    found: Estimate | None = kind_of(estimand).estimate(estimand, roles, logs, intervals)
    return found


def logs_of(
    estimand: dict[str, Any], names: list[str], summaries: pd.DataFrame, measure: str
) -> pd.DataFrame | None:
    """Logs of an estimand's quantity, blocks down and points across: bytes per second, or ns. None
    where a point was not measured at all."""
    own = summaries[summaries["point"].isin(names)]
    if own["point"].nunique() < len(names):
        return None
    if estimand.get("within_state"):
        own = _within_state(own, names)
    column = own[measure]
    values = rate(own["bytes_declared"], column) if estimand["quantity"] == RATE else column
    table = own.assign(value=values)
    logs = np.log(table.pivot(index="block", columns="point", values="value")).sort_index()
    return logs if set(names) <= set(logs.columns) else None


def _within_state(summaries: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The blocks in which the machine was in one and the same state at every one of the points."""
    groups = summaries.groupby("block")["machine_state"]
    one = (groups.nunique() == 1) & (groups.first() != MIXED) & (groups.size() == len(names))
    return summaries[summaries["block"].isin(one.index[one])]


def _apart(roles: Roles, points: Known) -> str:
    """Why rates of processes cannot be added: they did not run at the same time."""
    for name in names_of(roles):
        overlap = points[name].get("observations", {}).get("overlap_fraction")
        if overlap is not None and overlap < LEAST_OVERLAP:
            return (
                f"{name}: its processes ran at the same time for {overlap:.0%} of their time only, "
                "so their rates do not add up; on a quiet machine they do"
            )
    return ""


def _nothing(estimand: dict[str, Any]) -> str:
    if estimand.get("within_state"):
        return "no block holds all points in one and the same state of the machine"
    if estimand["kind"] == "explained_share":
        return "odd is not above base in every block, so there is no factor to explain"
    return "no block holds all points"


def _decided(claim: dict[str, Any], found: Estimate, null: dict[str, Any]) -> tuple[str, str]:
    region = claim["region"]
    verdict: str = stats.decide(found.low, found.high, *region)
    shown = f"the {kind_of(claim['estimand']).unit(claim['estimand'])} {shown_value(found)}"
    wanted = region_text(region)
    match verdict:
        case "reproduced":
            reason = f"{shown} lies within the region, {wanted}"
        case "not_reproduced":
            reason = f"{shown} lies outside the region, {wanted}"
        case _:
            reason = f"{shown} overlaps the edge of the region, {wanted}"
    smallest = _smallest(found, null)
    # Either way the verdict would rest on a difference that nothing may have made.
    # A bound that is no effect itself divides effects: then either verdict rests on one.
    inside = found.null is not None and found.null not in region
    holds = inside and stats.decide(found.null, found.null, *region) == "reproduced"
    rests = not inside or verdict == ("not_reproduced" if holds else "reproduced")
    if verdict != "inconclusive" and rests and found.effect < smallest.log_effect:
        verdict = "inconclusive"
        reason = (
            f"{shown} rests on a factor of {math.exp(found.effect):.3g}, less than the smallest "
            f"effect that counts as real here, a factor of {smallest.ratio:.3g} (limited by "
            f"{LIMITS[smallest.limit]})"
        )
    if null["passes"] is None:
        verdict, reason = "inconclusive", "no A/A twin was measured beside this claim"
    elif not null["passes"]:
        again = null["again"]
        verdict = "inconclusive"
        reason = (
            "the machine fails its own null: the same binary twice gives a ratio of "
            f"{again['low']:.3f} to {again['high']:.3f}, without 1"
        )
    return verdict, reason


def robustness(
    claim: dict[str, Any],
    roles: Roles,
    summaries: pd.DataFrame,
    intervals: int,
    primary: Estimate,
) -> str:
    """The same decision under other choices, in one line: statistic, disturbed blocks, states,
    and the other variants in which all points were measured."""
    expected = stats.decide(primary.low, primary.high, *claim["region"])
    parts = {"all": summaries, "undisturbed": summaries[~summaries["disturbed"]]}
    parts |= {f"state {state}": part for state, part in summaries.groupby("machine_state")}
    # The same rows under two names are one choice.
    distinct = {tuple(part.index): part for part in parts.values()}
    same, tried, thin = 0, 0, 0
    for sides in _in_variants(roles, summaries):
        for part in distinct.values():
            for measure in MEASURES.values():
                other = estimate(claim, sides, part, intervals, measure)
                if other is None or not np.isfinite(other.half_width):
                    thin += 1
                    continue
                tried += 1
                same += stats.decide(other.low, other.high, *claim["region"]) == expected
    text = (
        f"{WORDS[expected]} in {same} of {tried} choices of statistic, blocks, machine state and "
        "variant, by the interval alone"
    )
    return text + (f"; {thin} have too few blocks to decide" if thin else "")


def _in_variants(roles: Roles, summaries: pd.DataFrame) -> list[Roles]:
    """The claim's own points, and the same in every other variant in which all were measured."""
    known = set(summaries["point"])
    own = {point.variant for points in roles.values() for point in points}
    if len(own) > 1:
        return [roles]  # the claim itself compares variants
    names = sorted({name.split(",")[0] for name in known if "~" not in name.split(",")[0]})
    found = [with_variant(roles, name) for name in names]
    return [one for one in found if set(names_of(one)) <= known]


def with_variant(roles: Roles, variant: str) -> Roles:
    """The points at the same factors in another variant."""

    def moved(point: Point) -> Point:
        return replace(point, id=point_id(variant, point.factors), variant=variant)

    return {role: [moved(point) for point in points] for role, points in roles.items()}


def shown_value(found: Estimate) -> str:
    """`9.2 (8.8 to 9.7)`."""
    return with_interval(found.value, found.low, found.high)


def region_text(region: list[float | None]) -> str:
    """`at most 0.05`, `0.95 to 1.05`."""
    low, high = region
    if low is None:
        return f"at most {high:.3g}"
    if high is None:
        return f"at least {low:.3g}"
    return f"{low:.3g} to {high:.3g}" if low != high else f"exactly {low:.3g}"


def _smallest(found: Estimate, null: dict[str, Any]) -> stats.SmallestEffect:
    return smallest_effect({"half_width": found.half_width}, null)


def _declared(claim: dict[str, Any]) -> dict[str, Any]:
    keep = ("text", "region", "region_reason", "scope")
    estimand = claim["estimand"]
    return {
        "claim": claim["id"],
        "kind": estimand["kind"],
        "unit": kind_of(estimand).unit(estimand),
        "shown_in": estimand.get("unit", ""),
        **{key: claim[key] for key in keep},
        **{key: claim.get(key) for key in ("statistic", "requires")},
    }


def _ids(estimand: dict[str, Any], points: list[Point]) -> str | list[str] | None:
    """The one point of a side as paper.yaml has it, or the list."""
    names = [point.id for point in points]
    if estimand["kind"] == "range" or len(names) > 1:
        return names
    return names[0] if names else None


def _no_numbers(verdict: str, reason: str) -> dict[str, Any]:
    empty = {"estimate": None, "interval": None, "pointwise": None, "blocks": 0}
    empty |= {"smallest_effect": None, "notes": {}}
    return {"verdict": verdict, **empty, "reason": reason, "robustness": ""}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

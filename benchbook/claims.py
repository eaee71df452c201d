"""Claims -> verdicts by the interval rule, the machine's own null first.

I is the simultaneous interval, R the region that counts as holding: I within R reproduced, I and
R disjoint not reproduced, else inconclusive. A machine that fails its own null decides nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.digits import with_interval
from benchbook.tables import rate

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


def ratio_interval(
    summaries: pd.DataFrame,
    numerator: str,
    denominator: str,
    quantity: str,
    measure: str,
    claims: int,
) -> dict[str, float] | None:
    """Paired ratio of two points over blocks, with the interval simultaneous over `claims`.

    quantity rate (declared bytes ÷ time) or time. None where no block has both.
    """
    table = summaries.assign(
        value=rate(summaries["bytes_declared"], summaries[measure])
        if quantity == "rate"
        else summaries[measure]
    )
    pairs = pd.DataFrame([{"comparison": "c", "numerator": numerator, "denominator": denominator}])
    both = table[table["point"].isin([numerator, denominator])]
    if both["point"].nunique() < len({numerator, denominator}):
        return None
    logs = stats.paired_log_ratios(both[["block", "point", "value"]], pairs)
    if logs.empty:
        return None
    row = stats.ratio_intervals(logs, claims=claims).iloc[0]
    return {
        "ratio": float(row["ratio"]),
        "low": float(row["low"]),
        "high": float(row["high"]),
        "low95": float(row["low95"]),
        "high95": float(row["high95"]),
        "half_width": float(row["half_width"]),
        "blocks": int(row["blocks"]),
    }


def null_of(points: list[dict[str, Any]], summaries: pd.DataFrame, claims: int) -> dict[str, Any]:
    """A/A twins of an experiment at a figure's simultaneous level.

    again: the same binary twice; its interval must contain 1. relinked: other padding, a floor
    for the effects that count as real.
    """
    twins: dict[str, list[dict[str, Any]]] = {"again": [], "relinked": []}
    for point in points:
        if not point.get("twin") or point["state"] != "ok":
            continue
        base = point["point"].replace(f"~{point['twin']}", "", 1)
        interval = ratio_interval(summaries, point["point"], base, "rate", "median_ns", claims)
        if interval:
            twins[point["twin"]].append({"point": base, **interval})
    # Of several twins the worst speaks: one that fails, else the widest; the furthest bound.
    again = max(twins["again"], key=_badness, default=None)
    relinked = max(twins["relinked"], key=_furthest, default=None)
    passes = None if again is None else stats.null_check(again["low"], again["high"])
    return {"again": again, "relinked": relinked, "passes": passes}


def _badness(interval: dict[str, Any]) -> tuple[bool, float]:
    return not stats.null_check(interval["low"], interval["high"]), interval["half_width"]


def _furthest(interval: dict[str, Any]) -> float:
    low, high = interval["low"], interval["high"]
    return max(-math.log(low) if low > 0 else math.inf, math.log(high))


def smallest_effect(interval: dict[str, float], null: dict[str, Any]) -> stats.SmallestEffect:
    """The smallest effect that counts as real beside these twins."""
    again, relinked = null["again"] or {}, null["relinked"] or {}
    return stats.smallest_effect(
        interval["half_width"], again.get("half_width"), relinked.get("low"), relinked.get("high")
    )


def decide(interval: dict[str, float], region: list[float | None]) -> str:
    """reproduced, not_reproduced or inconclusive."""
    return stats.decide(interval["low"], interval["high"], region[0], region[1])


def judge_claim(
    claim: dict[str, Any],
    sides: dict[str, str | None],
    points: dict[str, dict[str, Any]],
    summaries: pd.DataFrame,
    null: dict[str, Any],
    claims: int,
) -> dict[str, Any]:
    """The verdict of one claim: {verdict, estimate, interval, unit, reason, robustness, …}."""
    quantity = claim["estimand"]["quantity"]
    common = {"claim": claim["id"], "text": claim["text"], "unit": f"ratio of {quantity}s"}
    common |= {"region": claim["region"], "region_reason": claim["region_reason"]}
    common |= {"scope": claim["scope"], "statistic": claim["statistic"], "points": sides}
    for side, name in sides.items():
        point = points.get(name or "", {"state": "absent", "reason": "not in this preset"})
        if point["state"] != "ok":
            reason = f"the {side} ({name or 'unknown size'}): {point['reason']}"
            return {**common, **_no_numbers("not_measurable_here", reason)}
    measure = MEASURES[claim["statistic"]]
    top, bottom = str(sides["numerator"]), str(sides["denominator"])
    interval = ratio_interval(summaries, top, bottom, quantity, measure, claims)
    if interval is None:
        return {**common, **_no_numbers("inconclusive", "no block holds both points")}
    verdict, reason = decide(interval, claim["region"]), ""
    low, high = interval["low"], interval["high"]
    shown = with_interval(interval["ratio"], low, high)
    wanted = _region_text(claim["region"])
    match verdict:
        case "reproduced":
            reason = f"the ratio {shown} lies within the region, {wanted}"
        case "not_reproduced":
            reason = f"the ratio {shown} lies outside the region, {wanted}"
        case _:
            reason = f"the ratio {shown} overlaps the edge of the region, {wanted}"
    smallest = smallest_effect(interval, null)
    effect = abs(math.log(interval["ratio"]))
    one_holds = decide({"low": 1.0, "high": 1.0}, claim["region"]) == "reproduced"
    # Either way the verdict would rest on a difference that nothing may have made.
    rests_on_effect = verdict == ("not_reproduced" if one_holds else "reproduced")
    if rests_on_effect and effect < smallest.log_effect:
        verdict = "inconclusive"
        reason = (
            f"the ratio {shown} is nearer to 1 than the smallest effect that counts as real here, "
            f"a factor of {smallest.ratio:.2f} (limited by {LIMITS[smallest.limit]})"
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
    return {
        **common,
        "verdict": verdict,
        "estimate": interval["ratio"],
        "interval": [_number(low), _number(high)],
        "pointwise": [_number(interval["low95"]), _number(interval["high95"])],
        "blocks": interval["blocks"],
        "smallest_effect": _number(smallest.ratio),
        "reason": reason,
        "robustness": robustness(claim, top, bottom, summaries, claims, interval),
    }


def _no_numbers(verdict: str, reason: str) -> dict[str, Any]:
    empty = {"estimate": None, "interval": None, "pointwise": None, "blocks": 0}
    return {"verdict": verdict, **empty, "reason": reason, "robustness": ""}


def robustness(
    claim: dict[str, Any],
    top: str,
    bottom: str,
    summaries: pd.DataFrame,
    claims: int,
    primary: dict[str, float],
) -> str:
    """The same decision under other choices, in one line: statistic, disturbed blocks, states,
    and the other variants in which both points were measured."""
    expected = decide(primary, claim["region"])
    parts = {"all": summaries, "undisturbed": summaries[~summaries["disturbed"]]}
    parts |= {f"state {state}": part for state, part in summaries.groupby("machine_state")}
    # The same rows under two names are one choice.
    distinct = {tuple(part.index): part for part in parts.values()}
    same, tried, thin = 0, 0, 0
    for variant in _variants(top, bottom, summaries):
        sides = [_with_variant(side, variant) for side in (top, bottom)]
        for part in distinct.values():
            for measure in MEASURES.values():
                quantity = claim["estimand"]["quantity"]
                other = ratio_interval(part, *sides, quantity, measure, claims)
                if other is None or not np.isfinite(other["high"]) or other["low"] <= 0:
                    thin += 1
                    continue
                tried += 1
                same += decide(other, claim["region"]) == expected
    text = (
        f"{WORDS[expected]} in {same} of {tried} choices of statistic, blocks, machine state and "
        "variant"
    )
    return text + (f"; {thin} have too few blocks to decide" if thin else "")


def _variants(top: str, bottom: str, summaries: pd.DataFrame) -> list[str]:
    """The claim's own variant, and every other one in which both points were measured."""
    known = set(summaries["point"])
    own = top.split(",")[0]
    if bottom.split(",")[0] != own:
        return [""]  # the claim itself compares variants
    names = sorted({name.split(",")[0] for name in known if "~" not in name.split(",")[0]})
    return [
        name for name in names if {_with_variant(top, name), _with_variant(bottom, name)} <= known
    ]


def _with_variant(point: str, variant: str) -> str:
    """The point at the same factors in another variant; as it is where the claim compares two."""
    _, _, factors = point.partition(",")
    return f"{variant},{factors}" if variant else point


def _region_text(region: list[float | None]) -> str:
    low, high = region
    if low is None:
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if high is None else f"{low:.3g} to {high:.3g}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

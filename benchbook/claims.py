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
        value=summaries["bytes_declared"] / summaries[measure]
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
    found: dict[str, Any] = {"again": None, "relinked": None, "passes": None}
    for point in points:
        if not point.get("twin") or point["state"] != "ok":
            continue
        base = point["point"].replace(f"~{point['twin']}", "", 1)
        interval = ratio_interval(summaries, point["point"], base, "rate", "median_ns", claims)
        if interval:
            found[point["twin"]] = {"point": base, **interval}
    if found["again"]:
        found["passes"] = stats.null_check(found["again"]["low"], found["again"]["high"])
    return found


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
    if verdict == "reproduced" and not one_holds and effect < smallest.log_effect:
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
    """The same decision under other choices, in one line: statistic, disturbed blocks, states."""
    expected = decide(primary, claim["region"])
    parts = {"all blocks": summaries, "undisturbed blocks": summaries[~summaries["disturbed"]]}
    for state, part in summaries.groupby("machine_state"):
        parts[f"machine state {state}"] = part
    same, tried, thin = 0, 0, 0
    for part in parts.values():
        for measure in MEASURES.values():
            other = ratio_interval(
                part, top, bottom, claim["estimand"]["quantity"], measure, claims
            )
            if other is None or not np.isfinite(other["high"]) or other["low"] <= 0:
                thin += 1
                continue
            tried += 1
            same += decide(other, claim["region"]) == expected
    text = f"{WORDS[expected]} in {same} of {tried} choices of statistic, blocks and machine state"
    return text + (f"; {thin} have too few blocks to decide" if thin else "")


def _region_text(region: list[float | None]) -> str:
    low, high = region
    if low is None:
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if high is None else f"{low:.3g} to {high:.3g}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""What compilers and flags change: at one setting, every variant compared with the base."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd

from benchbook.analyse.null_tests import null_of, smallest_effect
from benchbook.analyse.pairwise import Point, paired, usable
from benchbook.core.units import RATE, VALUES

LEAST_VARIANTS = 3  # by compiler or flags; below this there is nothing to lay side by side


def flags(
    points: list[Point],
    summaries: pd.DataFrame,
    variants: list[dict[str, Any]],
    base: str,
    order: list[str],
    quantity: str = RATE,
) -> list[dict[str, Any]]:
    """Settings at which several variants were asked for, the base among them.

    [{factors, base, rows: [{variant, compiler, flags, isa, state, reason, point, rates in bytes per
    second, times in ns, ratio, differs}]}]; ratio is the paired one to the base's rate, or to its
    time, None for the base and where there is none; differs counts only beyond the smallest effect
    that is real here. Rows stand in the given order of variants; a variant that could not be built
    is a row with its reason.
    """
    built = {variant["variant"]: variant for variant in variants if not variant.get("peer")}
    groups: dict[str, list[Point]] = {}
    for point in points:
        if not point.get("twin") and point.get("variant") in built:
            groups.setdefault(json.dumps(point["factors"], sort_keys=True), []).append(point)
    measured = usable(points)
    null = null_of(points, summaries, 1)
    settings = []
    for same in groups.values():
        reference = next((point for point in same if point["variant"] == base), None)
        builds = {_build(built[point["variant"]]) for point in same}
        if reference is None or len(builds) < LEAST_VARIANTS:
            continue
        same.sort(key=lambda point: order.index(point["variant"]))
        settings.append(
            {
                "factors": reference["factors"],
                "base": reference["point"],
                "rows": [
                    _row(point, reference, built, measured, summaries, null, quantity)
                    for point in same
                ],
            }
        )
    return settings


def _build(variant: dict[str, Any]) -> tuple[str, ...]:
    """What its binary is made by; variants may differ in more than that."""
    return (str(variant.get("compiler")), *variant.get("flags", []))


def _row(
    point: Point,
    base: Point,
    built: dict[str, dict[str, Any]],
    measured: dict[str, Point],
    summaries: pd.DataFrame,
    null: dict[str, Any],
    quantity: str,
) -> dict[str, Any]:
    both = point["point"] in measured and base["point"] in measured and point is not base
    names = [name for of in VALUES.values() for name in of.values()]
    sides = point["point"], base["point"]
    ratio = paired(summaries, *sides, quantity=quantity) if both else None
    return {
        "variant": point["variant"],
        **{key: built[point["variant"]].get(key) for key in ("compiler", "flags", "isa")},
        **{key: point[key] for key in ("state", "reason", "point")},
        **{name: point.get(name) for name in names},
        "ratio": ratio,
        "differs": ratio is not None and _differs(ratio, null),
    }


def _differs(ratio: dict[str, Any], null: dict[str, Any]) -> bool:
    """Beyond the pointwise interval, and beyond what the same binary and its relinked twin show."""
    if ratio["low95"] is None or ratio["high95"] is None:
        return False
    clear = not ratio["low95"] <= 1 <= ratio["high95"]
    return clear and abs(math.log(ratio["ratio"])) > smallest_effect(ratio, null).log_effect

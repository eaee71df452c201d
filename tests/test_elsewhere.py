"""Conditions under which a claim would hold, or its published ratio appears."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claimed import (
    claim,
    known,
    ratio,
    resolved,
    share,
    summaries,
)

from benchbook.judge.condition_search import elsewhere


def sweep(factors: dict[tuple[str, int], float]) -> tuple[dict[str, dict], pd.DataFrame]:
    """Points of method a and b by variant and size; a is that many times as fast as b."""
    logs: dict[str, Any] = {}
    dice = np.random.default_rng(3)
    for (variant, size), factor in factors.items():
        for method, log in (("a", math.log(factor)), ("b", 0.0)):
            logs[f"{variant},bytes={size},method={method}"] = log + dice.normal(0, 0.01, 8)
    variants = sorted({variant for variant, _ in factors})
    sizes = sorted({size for _, size in factors})
    points = known({"variant": variants, "bytes": sizes, "method": ["a", "b"]})
    return {name: points[name] for name in logs}, summaries(logs)


AT_TWO = claim(
    {
        "kind": "ratio",
        "quantity": "rate",
        "numerator": {"bytes": 2, "method": "a"},
        "denominator": {"bytes": 2, "method": "b"},
    },
    [3, None],
)


def looked(of: dict, points: dict, table: pd.DataFrame, printed: list[float]) -> dict[str, Any]:
    found = elsewhere(resolved(of, points, table), printed, ("bytes", "block_bytes"))
    assert found is not None
    return found


def test_every_condition_that_was_measured_is_looked_at() -> None:
    points, table = sweep({("v", 1): 4, ("v", 2): 2, ("v", 4): 1.5, ("w", 2): 9, ("w", 4): 1})
    found = looked(AT_TWO, points, table, [9.0])
    assert found["tried"] == 5
    holds = [
        (entry["condition"]["variant"], entry["condition"]["bytes"]) for entry in found["holds"]
    ]
    assert holds == [("v", 1), ("w", 2)]
    (appears,) = found["appears"]
    assert appears["condition"] == {"variant": "w", "bytes": 2}
    assert appears["ratio"] == pytest.approx(9, rel=0.02)
    assert appears["low95"] < 9 < appears["high95"]
    assert appears["points"] == ["w,bytes=2,method=a", "w,bytes=2,method=b"]
    assert not appears["own"]
    assert found["nearest"] == appears


def test_nearest_is_named_where_the_published_ratio_appears_nowhere() -> None:
    points, table = sweep({("v", 1): 4, ("v", 2): 2})
    found = looked(AT_TWO, points, table, [20.0, 30.0])
    assert found["appears"] == []
    assert found["nearest"]["condition"] == {"variant": "v", "bytes": 1}
    found = looked(AT_TWO, points, table, [0.1])
    assert found["nearest"]["own"]


def test_without_a_published_ratio_the_conditions_stand_alone() -> None:
    points, table = sweep({("v", 1): 4, ("v", 2): 2})
    found = looked(AT_TWO, points, table, [])
    assert (found["appears"], found["nearest"]) == ([], None)
    assert [entry["condition"]["bytes"] for entry in found["holds"]] == [1]
    assert [entry["condition"]["bytes"] for entry in found["fails"]] == [2]


def test_a_size_that_only_one_side_has_is_a_condition_and_other_factors_are_not() -> None:
    of = claim(
        {
            "kind": "ratio",
            "quantity": "rate",
            "numerator": {"bytes": 2, "block_bytes": 1, "method": "a", "threads": 1},
            "denominator": {"bytes": 2, "method": "b"},
        },
        [3, None],
    )
    points = known(
        {"bytes": [2, 4], "block_bytes": [1, 2], "method": "a", "threads": [1, 2]},
        {"bytes": [2, 4], "method": "b"},
    )
    table = summaries({name: np.linspace(0, 0.1, 8) * (k + 1) for k, name in enumerate(points)})
    found = looked(of, points, table, [1.0])
    assert found["tried"] == 4
    named = set(points) - {name for name in points if "threads=2" in name}
    assert {name for entry in _all(found, of, points, table) for name in entry["points"]} == named


def _all(found: dict, of: dict, points: dict, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Every condition: all hold where every ratio is in the region."""
    everything = looked(of | {"region": [0, None]}, points, table, [1.0])["holds"]
    assert len(everything) == found["tried"]
    return everything


def test_points_that_failed_twins_and_peers_are_no_conditions() -> None:
    points, table = sweep({("v", 1): 4, ("v", 2): 2, ("w", 2): 9})
    points["v,bytes=1,method=b"] |= {"state": "failed", "reason": "why"}
    for name in ("w,bytes=2,method=a", "w,bytes=2,method=b"):
        points[name]["peer"] = True
    points["v~again,bytes=1,method=b"] = points["v,bytes=1,method=b"] | {"twin": "again"}
    assert looked(AT_TWO, points, table, [9.0])["tried"] == 1


def test_a_claim_that_compares_variants_is_asked_of_no_other() -> None:
    of = claim(
        ratio()
        | {"numerator": {"variant": "w", "bytes": 2, "method": "a"}}
        | {"denominator": {"variant": "v", "bytes": 2, "method": "a"}},
        [3, None],
    )
    points, table = sweep({("v", 1): 1, ("v", 2): 1, ("w", 1): 4, ("w", 2): 2})
    found = looked(of, points, table, [4.0])
    assert found["tried"] == 2
    assert all("variant" not in entry["condition"] for entry in found["holds"])


def test_what_is_no_ratio_is_looked_for_nowhere() -> None:
    of = claim(share(), [0.5, None])
    assert elsewhere(resolved(of, {}, pd.DataFrame()), [], ()) is None

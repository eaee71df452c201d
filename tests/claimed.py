"""A made-up experiment with claims, and its summaries by block as the analysis gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchbook.analyse.null_tests import null_of
from benchbook.define.points import Point, expand
from benchbook.estimands import Roles, roles_of
from benchbook.judge.claims import Verdict
from benchbook.judge.resolved_claim import Claim, Measured, ResolvedClaim, resolve_claim
from benchbook.report import reasons

CONTENT: dict[str, Any] = {
    "factors": {
        "bytes": {"unit": "bytes"},
        "block_bytes": {"unit": "bytes"},
        "method": {},
        "threads": {},
    },
    "variants": {"v": {}, "w": {}},
    "base": "v",
}
SIZES = {"LLC": None, "cores": 2}
CALL_BYTES = 8e6
TWINS = ("again", "relinked")
BLOCK_NS, INVOCATION_NS = 10**9, 10**7


def claim(estimand: dict[str, Any], region: Iterable[float | None], **changes: Any) -> dict:
    """One claim as paper.yaml has it."""
    return {
        "id": "c",
        "text": "made up",
        "estimand": estimand,
        "region": list(region),
        "region_reason": "because",
        "statistic": "median",
        "scope": "here",
        **changes,
    }


def ratio(top: str = "a", bottom: str = "b", quantity: str = "rate", **more: Any) -> dict:
    """Of two methods."""
    sides = {"numerator": {"method": top}, "denominator": {"method": bottom}}
    return {"kind": "ratio", "quantity": quantity, **sides, **more}


def share(odd: str = "odd", base: str = "base", removed: str = "removed", **more: Any) -> dict:
    """Of the factor of two methods, by a third."""
    sides = {"odd": odd, "base": base, "removed": removed}
    settings = {side: {"method": name} for side, name in sides.items()}
    return {"kind": "explained_share", "quantity": "rate", **settings, **more}


def spread(methods: list[str], sizes: list[int], holds: str = "all", **more: Any) -> dict:
    """Over the sizes, for every method."""
    points = {"bytes": sizes, "method": methods}
    named = {"points": points, "over": "bytes", "holds": holds}
    return {"kind": "range", "quantity": "rate", **named, **more}


def roles(estimand: dict[str, Any]) -> Roles:
    """Its points on the made-up host."""
    return roles_of(estimand, CONTENT, SIZES)


def known(*crosses: dict[str, Any], twin_of: dict[str, Any] | None = None) -> dict[str, dict]:
    """What a run says of these points, and of the twins of one; all of them were measured."""
    points = expand(CONTENT, list(crosses), SIZES)[0]
    named = [(point.id, "", point) for point in points]
    for point in expand(CONTENT, [twin_of], SIZES)[0] if twin_of else []:
        named += [(twin_id(point.id, twin), twin, point) for twin in TWINS]
    return {
        name: {
            "point": name,
            "variant": point.variant,
            "factors": point.factors,
            "twin": twin,
            "state": "ok",
            "reason": "",
        }
        for name, twin, point in named
    }


def twin_id(name: str, twin: str) -> str:
    """`v,method=a` -> `v~again,method=a`."""
    return replace(Point.of_id(name), twin=twin).id


def summaries(
    log_rates: Mapping[str, Any],
    states: Mapping[str, Iterable[str]] | None = None,
    call_bytes: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Logs of rates by point, one per block (NaN where it failed) -> one row per invocation.

    The first block was disturbed. Every start takes 10 ms, one point each, in the order given.
    """
    tables = []
    for k, (name, logs) in enumerate(log_rates.items()):
        values = np.asarray(logs, dtype=float)
        declared = (call_bytes or {}).get(name, CALL_BYTES)
        time_ns = 1e6 * declared / CALL_BYTES * np.exp(-values)
        blocks = np.arange(len(values))
        end_ns = blocks * BLOCK_NS + (k + 1) * INVOCATION_NS
        table = pd.DataFrame(
            {
                "block": blocks,
                "point": name,
                "invocation": k,
                "median_ns": time_ns,
                "mean_ns": time_ns * 1.01,
                "best_ns": time_ns * 0.99,
                "bytes_declared": declared,
                "disturbed": blocks == 0,
                "machine_state": "1" if states is None else list(states[name]),
                "t_start_ns": end_ns - INVOCATION_NS // 2,
                "t_end_ns": end_ns,
            }
        )
        tables.append(table.dropna())
    return pd.concat(tables, ignore_index=True)


def measured_run(points: dict[str, dict], table: pd.DataFrame) -> Measured:
    """A run that says this of its points."""
    return Measured(list(points.values()), table)


def resolved(
    of: dict, points: dict[str, dict], table: pd.DataFrame, count: int = 1
) -> ResolvedClaim:
    """The claim on such a run, with its estimate simultaneous over `count` intervals."""
    run = measured_run(points, table)
    return resolve_claim(Claim.of(of), CONTENT, SIZES, run).estimated(count)


def in_words(verdict: Verdict) -> dict[str, Any]:
    """A verdict as verdicts.json has it."""
    words: dict[str, Any] = reasons.with_sentences(verdict.as_json())
    return words


def twins_null(points: dict[str, dict], table: pd.DataFrame, intervals: int = 1) -> dict:
    """What the twins among these points say."""
    return null_of(list(points.values()), table, intervals)

"""How well our twins agree with other people's programs that were measured in the same blocks."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import pandas as pd

from benchbook.analyse.null_tests import ratio_interval
from benchbook.analyse.pairwise import SIZE
from benchbook.core.files import storable
from benchbook.core.reason_codes import Unpaired
from benchbook.stats import MIXED


def agreement(
    rows: list[dict[str, Any]],
    points: list[dict[str, Any]],
    summaries: pd.DataFrame,
    variants: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """The plan's rows {peer, twin, point, peer_point, reason} -> one record for each peer.

    {peer, tool, version, package, state, reason, twin, quantity, rows, compared, not_compared,
    median_ratio, worst_ratio}; rows: {ours, peer_point, factors, rates in bytes per second, times
    in ns, ratio (ours ÷ peer's) with its pointwise ends low95 and high95, blocks, statistic (of
    each start), state, lacking, reason}. quantity is what the ratios are of: rate where points work
    on buffers, else time. Only blocks count in which both ran in one machine state. A row without
    ratio has a state other than ok: not_accepted, with the plan's reason; no_block; or the state of
    the variant that is lacking, with the reason that its run recorded. worst_ratio is the one
    furthest from 1, as a factor; both are None where nothing was compared.
    """
    by_id = {point["point"]: point for point in points}
    about = {variant["variant"]: variant for variant in variants}
    agreements = []
    for name in dict.fromkeys(row["peer"] for row in rows):
        theirs = [row for row in rows if row["peer"] == name]
        quantity = _quantity(theirs, by_id)
        own = [_row(row, by_id, summaries, quantity) for row in theirs]
        ratios = [row["ratio"] for row in own if row["ratio"] is not None]
        built = about.get(name, {})
        agreements.append(
            {
                "peer": name,
                **{key: (built.get("peer") or {}).get(key) for key in _ABOUT},
                "state": built.get("state"),
                "reason": built.get("reason", ""),
                "twin": theirs[0]["twin"],
                "quantity": quantity,
                "rows": own,
                "compared": len(ratios),
                "not_compared": len(own) - len(ratios),
                "median_ratio": median(ratios) if ratios else None,
                "worst_ratio": max(ratios, key=lambda ratio: abs(math.log(ratio)), default=None),
            }
        )
    return agreements


_ABOUT = ("tool", "package", "version", "text")


def _quantity(rows: list[dict[str, Any]], by_id: dict[str, dict[str, Any]]) -> str:
    """`rate` where the peer's points move buffers, else `time`."""
    points = [by_id[row["point"]] for row in rows if row["point"] in by_id]
    sized = any(SIZE in point.get("factors", {}) for point in points)
    return "rate" if sized or not points else "time"


def _row(
    row: dict[str, Any],
    points: dict[str, dict[str, Any]],
    summaries: pd.DataFrame,
    quantity: str,
) -> dict[str, Any]:
    ours, theirs = points.get(row["point"], {}), points.get(row["peer_point"], {})
    interval, (state, lacking, reason) = None, _state(row, ours, theirs)
    statistic = ""
    if state == "ok":
        both = _same_state(summaries, row)
        statistic = _statistic(both, row["peer_point"])
        measure = f"{statistic}_ns"
        sides = row["point"], row["peer_point"]
        interval = ratio_interval(both, *sides, quantity, measure, 1) if len(both) else None
        if interval is None:
            state = Unpaired.NO_BLOCK
    ends = {key: interval[key] if interval else None for key in ("ratio", "low95", "high95")}
    result: dict[str, Any] = storable(
        {
            "ours": row["point"],
            "peer_point": row["peer_point"],
            "factors": ours.get("factors", {}),
            "our_bytes_per_s": ours.get("rate_bytes_per_s"),
            "peer_bytes_per_s": theirs.get("rate_bytes_per_s"),
            "our_ns": ours.get("time_ns"),
            "peer_ns": theirs.get("time_ns"),
            **ends,
            "blocks": interval["blocks"] if interval else 0,
            "statistic": statistic,
            "state": state,
            "lacking": lacking,
            "reason": reason,
        }
    )
    return result


def _statistic(both: pd.DataFrame, peer_point: str) -> str:
    """A peer that prints one time for all its repetitions prints their mean: so ours is taken."""
    samples = both.loc[both["point"] == peer_point, "samples"]
    return "mean" if len(samples) and (samples == 1).all() else "median"


def _state(
    row: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> tuple[str, str, str]:
    """The state of a row, the variant that was not measured, and the recorded reason."""
    if row["peer_point"] is None:
        return Unpaired.NOT_ACCEPTED, "", row["reason"]
    for point, name in ((theirs, row["peer"]), (ours, row["twin"])):
        if point.get("state") != "ok":
            return point.get("state", "absent"), name, point.get("reason", "")
    return "ok", "", ""


def _same_state(summaries: pd.DataFrame, row: dict[str, Any]) -> pd.DataFrame:
    """The summaries of both points in the blocks that saw them in one known machine state."""
    both = summaries[summaries["point"].isin([row["point"], row["peer_point"]])]
    states = both.groupby("block")["machine_state"].agg(["nunique", "first", "size"])
    same = (states["nunique"] == 1) & (states["size"] == 2) & (states["first"] != MIXED)
    return both[both["block"].isin(states.index[same])]

"""drift: the order of measuring is in the result.

Two things together decide it. The first is exact: some points were measured wholly before others,
instead of in turn. The second is a matter of timing: the machine became slower or faster meanwhile,
as the starts of single points, the anchor or two measurements of the same program show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchbook.detect import Judged, Seen, artefact
from benchbook.findings import Finding
from benchbook.stats.association import association, draws_for, ranked

CHANCE = 0.01  # shared by all that is asked: points in turn are never asked
LEAST_STARTS = 5
LEAST_READINGS = 8
LEAST_FACTOR = 1.05
ARTEFACT = artefact("drift")


@dataclass(frozen=True)
class Trend:
    """What one thing, known to be the same, tells of the machine's speed over time."""

    what: str  # point, points (together) or anchor
    factor: float  # time at the end ÷ at the beginning, over the span of all points in order
    share: float


def detect(seen: Seen) -> Judged:
    """One finding for all points that were measured one after the other while the speed changed.

    Abstains for points in serial order of which nothing tells whether it changed, and where every
    point has one start; points that were measured in turn say nothing.
    """
    judged = Judged()
    wheres = [row["where"] for row in seen.rows()]
    starts = _starts(seen)
    counts = starts["where"].value_counts() if len(starts) else pd.Series(dtype=int)
    for where in wheres:
        if counts.get(where, 0) == 0:
            judged.abstained[where] = ARTEFACT.cannot_tell("not-recorded")
    counted = [where for where in wheres if counts.get(where, 0) > 0]
    if len(counted) < 2:
        return judged
    if max(counts[where] for where in counted) == 1:
        judged.abstained |= dict.fromkeys(counted, ARTEFACT.cannot_tell("one-start-each"))
        return judged
    ordered = [where for where in counted if counts[where] > 1]
    serial = _serial(starts, ordered)
    if not serial:
        return judged.rest_is_clean(ordered)
    own = starts[starts["where"].isin(serial)]
    trends_asked = _asked(own, seen.readings)
    if not trends_asked:
        judged.abstained |= dict.fromkeys(
            serial,
            ARTEFACT.cannot_tell("too-few-starts"),
        )
        return judged
    trends = [trend for trend in trends_asked if trend.share <= CHANCE / len(trends_asked)]
    factor = _overall(trends)
    if trends and max(factor, 1 / factor) >= LEAST_FACTOR:
        judged.findings.append(_finding(own, serial, trends, factor))
    return judged.rest_is_clean(ordered)


def _starts(seen: Seen) -> pd.DataFrame:
    if "median_ns" not in seen.starts or "t_start_ns" not in seen.starts:
        return seen.starts[:0]
    timed = seen.starts.dropna(subset=["t_start_ns", "median_ns"])
    return timed[timed["median_ns"] > 0].sort_values(["t_start_ns", "where"])


def _serial(starts: pd.DataFrame, wheres: list[str]) -> list[str]:
    """Points of which all starts lie before all starts of another, or after them."""
    own = starts[starts["where"].isin(wheres)]
    spans = own.groupby("where")["t_start_ns"].agg(["min", "max"])
    apart = (spans["min"] > spans["max"].min()) | (spans["max"] < spans["min"].max())
    return sorted(map(str, spans.index[apart]))


def _asked(own: pd.DataFrame, readings: pd.DataFrame) -> list[Trend]:
    """Each point with enough starts, all of them together, and the anchor, over the time in which
    all were measured."""
    begin, end = own["t_start_ns"].min(), own["t_start_ns"].max()
    enough = [part for _, part in own.groupby("where") if len(part) >= LEAST_STARTS]
    tables = {
        "point": enough,
        "points": [pd.concat(enough).sort_values("t_start_ns")] if len(enough) > 1 else [],
        "anchor": [],
    }
    if len(readings):
        anchors = readings[readings["name"].str.startswith("anchor") & (readings["value"] > 0)]
        within = anchors[anchors["t_ns"].between(begin - (end - begin), end + (end - begin))]
        names = {"name": "where", "t_ns": "t_start_ns", "value": "median_ns"}
        table = within.rename(columns=names)
        tables["anchor"] = [table] if len(table) >= LEAST_READINGS else []
    parts_asked = [(what, part) for what, parts in tables.items() for part in parts]
    draws = draws_for(CHANCE / max(len(parts_asked), 1))
    return [_trend(what, part, end - begin, draws) for what, part in parts_asked]


def _trend(what: str, part: pd.DataFrame, span_ns: float, draws: int) -> Trend:
    """Of differences from each point's own median, so that points may differ as they like."""
    whose = part["where"].to_numpy()
    times, logs = (
        values - values.groupby(whose).transform("median")
        for values in (
            part["t_start_ns"].astype(float).reset_index(drop=True),
            np.log(part["median_ns"].astype(float)).reset_index(drop=True),
        )
    )
    trend = association({"time": ranked(times)}, logs, draws)
    slope = _slope(part["t_start_ns"].to_numpy(dtype=float), logs.to_numpy(), whose)
    return Trend(what, math.exp(slope * span_ns), trend.share if trend else 1.0)


def _slope(times: np.ndarray, logs: np.ndarray, whose: np.ndarray) -> float:
    """The median of the slopes between all pairs of starts of a point (Theil and Sen): one odd
    start moves it little."""
    slopes = []
    for name in np.unique(whose):
        own_times, own_logs = times[whose == name], logs[whose == name]
        first, second = np.triu_indices(len(own_times), 1)
        later = own_times[second] - own_times[first]
        slopes.append((own_logs[second] - own_logs[first])[later != 0] / later[later != 0])
    slope = np.concatenate(slopes)
    return float(np.median(slope)) if len(slope) else 0.0


def _overall(trends: list[Trend]) -> float:
    return math.exp(np.median([math.log(trend.factor) for trend in trends])) if trends else 1.0


def _finding(own: pd.DataFrame, serial: list[str], trends: list[Trend], factor: float) -> Finding:
    kinds = {trend.what for trend in trends}
    witnesses = ["the runs of each measurement"] if kinds & {"point", "points"} else []
    witnesses += ["the reference copy"] if "anchor" in kinds else []
    words = {
        "span_s": float(own["t_start_ns"].max() - own["t_start_ns"].min()) / 1e9,
        "size": max(factor, 1 / factor),
        "direction": "slower" if factor > 1 else "faster",
        "witnesses": witnesses,
        "longer": factor,
        "trends": len(trends),
        "chance": min(trend.share for trend in trends),
    }
    return ARTEFACT.finding(serial, words)

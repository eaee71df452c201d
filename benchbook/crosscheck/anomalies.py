"""Anomalies of a figure: known causes, points that a preset measures, a chain without a circle."""

from __future__ import annotations

from typing import Any

from benchbook.crosscheck.spaces import Place, Space
from benchbook.judge import causes


def check(place: Place, figure: dict[str, Any], space: Space) -> None:
    """Refuse an anomaly that could never be explained; `place` is the figure's."""
    declared = figure.get("anomalies", [])
    place.at("anomalies").unique([anomaly["id"] for anomaly in declared])
    for anomaly in declared:
        _one(place.at("anomalies", anomaly["id"]), anomaly, space)


def _one(place: Place, anomaly: dict[str, Any], space: Space) -> None:
    odd = space.known_point(place.at("odd"), anomaly["odd"])
    base = space.known_point(place.at("base"), anomaly["base"])
    if odd == base:
        raise place.refusal("compares a point with itself; let odd and base differ")
    seen = [odd]
    named = [step["cause"] for step in anomaly["steps"]]
    for number, step in enumerate(anomaly["steps"]):
        here = place.at("steps", number)
        here.at("cause").known(step["cause"], causes.names(), "module of benchbook/judge/causes")
        if named.count(step["cause"]) > 1:
            raise here.at("cause").refusal(f"is {step['cause']!r}, which is listed twice; keep one")
        if "removed" not in step:
            continue
        removed = space.known_point(here.at("removed"), step["removed"])
        if removed in seen:
            raise here.at("removed").refusal(
                "is a point that stands before it in the chain; remove one cause more at each step"
            )
        if seen[-1] == base:
            raise here.at("removed").refusal("stands behind the base; let the chain end there")
        seen.append(removed)

"""Which of the twin's points a peer measures too, and why not the others."""

from __future__ import annotations

from typing import Any

from benchbook import network
from benchbook.core.sizes import format_bytes
from benchbook.define import peers
from benchbook.define.points import Point


def matched(
    content: dict[str, Any], points: list[Point]
) -> tuple[list[Point], list[dict[str, str | None]]]:
    """(The points of all peers, rows {peer, twin, point, peer_point, reason}).

    One row for each planned point of a peer's twin, at the same factors; where the peer does not
    accept it, `peer_point` is None and `reason` says why.
    """
    found, rows = [], []
    for name, spec in peers.of(content).items():
        for point in points:
            if point.variant != spec["twin"] or point.twin:
                continue
            reason = refusal(name, spec, point.factors, content.get("names", {}))
            theirs = None
            if not reason:
                theirs = Point(name, point.factors)
                found.append(theirs)
            rows.append(
                {
                    "peer": name,
                    "twin": point.variant,
                    "point": point.id,
                    "peer_point": theirs.id if theirs else None,
                    "reason": reason,
                }
            )
    return found, rows


def measure_of(spec: dict[str, Any], factors: dict[str, Any]) -> dict[str, Any] | None:
    """What the peer is asked for at these factors, None where it has nothing like it."""
    for measure in spec["measures"]:
        if not _differing(measure, factors):
            return measure
    return None


def refusal(name: str, spec: dict[str, Any], factors: dict[str, Any], names: dict[str, str]) -> str:
    """Why a peer does not accept a point; empty where it does. `names`: of methods, for people."""
    measure = measure_of(spec, factors)
    if measure is None:
        return _no_measure(name, spec, factors, names)
    fields = peers.fields(measure["arguments"])
    named = {peers.factor_of(field) for field in fields}
    laid = network.LAID if peers.FAR_ADDRESS in fields else ()
    for factor, value in factors.items():
        if factor not in named | set(measure["setting"]) | set(laid):
            return f"{name} has nothing like {factor}={value}"
    if laid and factors.get("path") not in network.FOR_ANYBODY:
        return f"over path={factors.get('path')} a program of ours answers or forwards, not {name}"
    for factor in sorted(named - {peers.REPETITIONS, peers.FAR_ADDRESS, peers.PORT}):
        if factor not in factors:
            return f"{name} needs a value of {factor}"
    for factor, least in spec.get("least", {}).items():
        if factors.get(factor, least) < least:
            return f"{name} takes {factor} from {least} on"
    for factor, steps in spec.get("multiples", {}).items():
        for step in steps:
            size = peers.step_bytes(step, factors)
            if size and factors.get(factor, 0) % size:
                value = format_bytes(factors[factor])
                return f"{value} is no whole multiple of {format_bytes(size)}"
    return ""


def _differing(measure: dict[str, Any], factors: dict[str, Any]) -> dict[str, Any]:
    setting: dict[str, Any] = measure["setting"]
    return {name: value for name, value in setting.items() if factors.get(name) != value}


def _no_measure(
    name: str, spec: dict[str, Any], factors: dict[str, Any], names: dict[str, str]
) -> str:
    """Why no measure of the peer fits, in words, by the measure that comes nearest."""
    method = factors.get("method")
    what = names.get(str(method), method)
    differing = [_differing(measure, factors) for measure in spec["measures"]]
    same = [difference for difference in differing if "method" not in difference]
    if not same:
        return f"{name} measures no {what}"
    wanted = ", ".join(f"{key}={value}" for key, value in min(same, key=len).items())
    return f"{name} measures {what} only with {wanted}"

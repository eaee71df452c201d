"""The rates that memory attained on this host, by kind of traffic and number of threads."""

from __future__ import annotations

from typing import Any

from benchbook.detect.inputs.thresholds import BEYOND

Point = dict[str, Any]


def ceilings(
    points: list[Point], bounds: dict[str, list[str]], total_llc_bytes: int | None
) -> list[dict[str, Any]]:
    """The best rate of the methods that bound each kind of traffic (`ceilings` of experiment.yaml).

    Only points count of which one call moves at least BEYOND times what all last-level caches hold
    together; empty where that is unknown or no such point was measured. Rates in bytes per second,
    with the pointwise interval of the best point; `others` are the best rates of the methods that
    lost, whatever their variant and size.
    """
    best: dict[tuple[str, int], list[Point]] = {}
    for traffic, methods in bounds.items():
        for point in points:
            if _counts(point, methods, total_llc_bytes):
                threads = int(point["factors"].get("threads", 1))
                best.setdefault((traffic, threads), []).append(point)
    return [
        {
            "traffic": traffic,
            "threads": threads,
            **_best(candidates),
        }
        for (traffic, threads), candidates in sorted(best.items())
    ]


def _counts(point: Point, methods: list[str], total_llc_bytes: int | None) -> bool:
    return (
        point["state"] == "ok"
        and not point["twin"]
        and not point.get("peer")
        and point["factors"].get("method") in methods
        and total_llc_bytes is not None
        and point["bytes_per_call"] >= BEYOND * total_llc_bytes
    )


def _best(candidates: list[Point]) -> dict[str, Any]:
    by_method: dict[str, Point] = {}
    for point in candidates:
        method = point["factors"]["method"]
        before = by_method.get(method)
        if before is None or point["rate_bytes_per_s"] > before["rate_bytes_per_s"]:
            by_method[method] = point
    best = max(by_method.values(), key=lambda point: point["rate_bytes_per_s"])
    names = ("point", "rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s")
    return {
        "method": best["factors"]["method"],
        **{name: best[name] for name in names},
        "others": {
            method: point["rate_bytes_per_s"]
            for method, point in by_method.items()
            if point is not best
        },
    }

"""How the memory of buffers was backed, and what the timed functions are made of."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchbook.analyse.pairwise import Point
from benchbook.judge.traffic.bytes_moved import NOTHING, Items, value_of

BACKED = ("buffers_resident_bytes", "anonymous_bytes", "anon_huge_bytes")
OF_FUNCTION = (
    "loads_in_loop",
    "stores_in_loop",
    "non_temporal_stores",
    "string_instructions",
    "library_calls",
)


def buffers(points: list[Point]) -> list[dict[str, Any]]:
    """By size of a buffer: points, and the least, median and largest share of the buffers that
    was resident, anonymous, in huge pages; None where this system does not tell."""
    sizes: dict[int, list[dict[str, Any]]] = {}
    for point in points:
        if point["observations"].get("buffers_bytes"):
            size = point["factors"].get("bytes", 0)
            sizes.setdefault(size, []).append(point["observations"])
    return [
        {
            "bytes": size,
            "points": len(same),
            **{name: _shares([point.get(name) for point in same], same) for name in BACKED},
        }
        for size, same in sorted(sizes.items())
    ]


def _shares(values: list[Any], same: list[dict[str, Any]]) -> list[float] | None:
    """A mapping may hold more than the buffers: more than all of them is all."""
    shares = [
        min(1.0, value / observed["buffers_bytes"])
        for value, observed in zip(values, same, strict=True)
        if value is not None
    ]
    return [min(shares), median(shares), max(shares)] if shares else None


def loops(items: Items, measured: dict[str, Point]) -> list[dict[str, Any]]:
    """Each timed function of a variant once: loads and stores in its loop, stores past the caches,
    instructions that are a loop of their own, library calls, methods that it is for."""
    functions: dict[tuple[str, str], dict[str, Any]] = {}
    for item in items:
        function, point = item.get("function"), item["point"]
        if not function or point not in measured:
            continue
        key = item["variant"], function
        row = functions.setdefault(key, {"variant": key[0], "function": function, "methods": []})
        method = str(measured[point]["factors"].get("method", ""))
        row["methods"] += [method] if method not in row["methods"] else []
        if item["name"] in OF_FUNCTION:
            row[item["name"]] = value_of(item)
    return [dict.fromkeys(OF_FUNCTION, NOTHING) | row for row in functions.values()]

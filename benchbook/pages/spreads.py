"""How the samples of a point spread: percentiles and means, as the page of a paper on times has
them."""

from __future__ import annotations

from typing import Any

from benchbook import digits
from benchbook.pages import prose
from benchbook.pages.prose import Paper

COLUMNS = {"p10_ns": "10th percentile", "p90_ns": "90th", "p99_ns": "99th", "mean_ns": "mean"}


def rows(paper: Paper, name: str) -> list[dict[str, Any]]:
    """{name, point, simulated, samples (of each start), median, and one text per column of
    COLUMNS}, of every point of ours of one experiment that was measured."""
    return [
        {
            "name": prose.point_name(paper, point["point"]),
            "point": point["point"],
            "simulated": bool(point.get("emulates")),
            "samples": digits.count(point["samples"] / point["blocks"]),
            "median": digits.duration(point["time_ns"]) if point["time_ns"] else digits.NONE,
            **{key: _shown(point.get("spread_ns", {}).get(key)) for key in COLUMNS},
        }
        for point in paper["points"]
        if point["experiment"] == name
        and point["state"] == "ok"
        and not point["twin"]
        and not point.get("peer")
    ]


def _shown(value: float | None) -> str:
    return digits.NONE if value is None else digits.duration(value)

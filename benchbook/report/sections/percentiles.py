"""How the samples of a point spread: percentiles and means, as the page of a paper on times has
them."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper

COLUMNS = {"p10_ns": "10th percentile", "p90_ns": "90th", "p99_ns": "99th", "mean_ns": "mean"}


def rows(paper: Paper, name: str) -> list[dict[str, Any]]:
    """{name, point, simulated, samples (of each start), median, and one text per column of
    COLUMNS}, of every point of ours of one experiment that was measured."""
    return [
        {
            "name": wording.point_name(paper, point["point"]),
            "point": point["point"],
            "simulated": bool(point.get("emulates")),
            "samples": number_format.count(point["samples"] / point["blocks"]),
            "median": number_format.duration(point["time_ns"])
            if point["time_ns"]
            else number_format.NONE,
            **{key: _shown(point.get("spread_ns", {}).get(key)) for key in COLUMNS},
        }
        for point in paper["points"]
        if point["experiment"] == name
        and point["state"] == "ok"
        and not point["twin"]
        and not point.get("peer")
    ]


def _shown(value: float | None) -> str:
    return number_format.NONE if value is None else number_format.duration(value)

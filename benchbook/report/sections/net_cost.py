"""What calls cost without the loop around them, in time and in cycles of the processor's counter,
as the page of a paper has it."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper


def rows(paper: Paper, name: str) -> list[dict[str, Any]]:
    """{name, point, time, net, cycles, blocks} of every point of one experiment that has a baseline
    here, cheapest first, in text."""
    return [
        {
            "name": wording.point_name(paper, one["point"]),
            "point": one["point"],
            "time": number_format.duration(one["time_ns"]),
            "net": number_format.with_interval(one["net_ns"], one["low_ns"], one["high_ns"]),
            "cycles": _cycles(one),
            "blocks": one["blocks"],
        }
        for one in sorted(_net(paper, name), key=lambda one: float(one["net_ns"]))
    ]


def baselines(paper: Paper, name: str) -> str:
    """The points that are taken off, with their times."""
    points = {one["point"]: one for one in paper["points"] if one["experiment"] == name}
    names = dict.fromkeys(one["baseline"] for one in _net(paper, name))
    return number_format.listed(
        [
            f"{wording.point_name(paper, one)} ({number_format.duration(points[one]['time_ns'])})"
            for one in names
        ]
    )


def rate_ghz(paper: Paper, name: str) -> str:
    """Of the counter; empty where there is none."""
    rates = {one["cycles_per_ns"] for one in _net(paper, name)} - {None}
    return f"{sum(rates) / len(rates):.2f} GHz" if rates else ""


def _net(paper: Paper, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = paper["experiments"][name].get("net", [])
    return found


def _cycles(one: dict[str, Any]) -> str:
    rate = one["cycles_per_ns"]
    if rate is None:
        return number_format.NONE
    ends = [None if end is None else end * rate for end in (one["low_ns"], one["high_ns"])]
    return number_format.number(one["net_ns"] * rate, *ends)

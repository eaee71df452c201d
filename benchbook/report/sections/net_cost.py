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
            "name": wording.point_name(paper, cost["point"]),
            "point": cost["point"],
            "time": number_format.duration(cost["time_ns"]),
            "net": number_format.with_interval(cost["net_ns"], cost["low_ns"], cost["high_ns"]),
            "cycles": _cycles(cost),
            "blocks": cost["blocks"],
        }
        for cost in sorted(_net(paper, name), key=lambda cost: float(cost["net_ns"]))
    ]


def baselines(paper: Paper, name: str) -> str:
    """The points that are taken off, with their times."""
    baseline_points = {cost["baseline"] for cost in _net(paper, name)}
    times = {
        point["point"]: number_format.duration(point["time_ns"])
        for point in paper["points"]
        if point["experiment"] == name and point["point"] in baseline_points
    }
    return number_format.listed(
        [f"{wording.point_name(paper, point)} ({time})" for point, time in times.items()]
    )


def rate_ghz(paper: Paper, name: str) -> str:
    """`2.45 GHz`, the rate of the counter of cycles; empty where there is none."""
    rates = {cost["cycles_per_ns"] for cost in _net(paper, name)} - {None}
    return f"{sum(rates) / len(rates):.2f} GHz" if rates else ""


def _net(paper: Paper, name: str) -> list[dict[str, Any]]:
    costs: list[dict[str, Any]] = paper["experiments"][name].get("net", [])
    return costs


def _cycles(cost: dict[str, Any]) -> str:
    rate = cost["cycles_per_ns"]
    if rate is None:
        return number_format.NONE
    ends = [None if end is None else end * rate for end in (cost["low_ns"], cost["high_ns"])]
    return number_format.number(cost["net_ns"] * rate, *ends)

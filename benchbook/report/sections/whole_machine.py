"""The words of the section on the whole machine by processes."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper


def method_and_size(paper: Paper, setting: dict[str, Any]) -> str:
    """`whole copy, 32 MiB`."""
    point = _points(setting)[0]
    return f"{wording.method_name(paper, point)}, {wording.size_of(point)}"


def points(row: dict[str, Any]) -> list[str]:
    """What was measured of a row."""
    return [row[side]["point"] for side in ("apart", "together") if row[side]]


def all_points(experiment: dict[str, Any]) -> list[str]:
    """What was measured of all of them."""
    return [point for setting in experiment["whole_machine"] for point in _points(setting)]


def _points(setting: dict[str, Any]) -> list[str]:
    return [point for row in setting["rows"] for point in points(row)]


def sentence(paper: Paper, experiment: dict[str, Any]) -> str:
    """How far summed averages were from what the machine moved, at the most processes that have
    a core each."""
    parts = []
    more = False
    for setting in experiment["whole_machine"]:
        rows = [row for row in setting["rows"] if row["ratio"] and not row["crowded"]]
        if not rows:
            continue
        row = max(rows, key=lambda row: row["processes"])
        ratio = row["ratio"]
        text = number_format.with_interval(ratio["ratio"], ratio["low95"], ratio["high95"])
        more = more or (ratio["low95"] or 0) > 1
        during = f", all at work during {overlap(row)} of the time" if overlap(row) else ""
        parts.append(
            f"{method_and_size(paper, setting)}: {text} with {row['processes']} at once{during}"
        )
    if not parts:
        return "Nothing was measured in both ways, so summed averages cannot be judged here."
    return (
        "The sum of the averages of independent processes is this multiple of their real combined "
        f"bandwidth: {'; '.join(parts)}. "
        + (
            "Above 1 the sum overstates the machine: a process that runs while the others are "
            "idle gets their share of the bandwidth too."
            if more
            else "No ratio differs clearly from 1 here."
        )
    )


def overlap(row: dict[str, Any]) -> str:
    """Share of the time in which all processes measured."""
    seen = (row["apart"] or {}).get("observations", {}).get("overlap_fraction")
    return "" if seen is None else number_format.share(seen)


def skew(row: dict[str, Any]) -> str:
    """From the first to the last start of a sample."""
    seen = (row["together"] or {}).get("observations", {}).get("start_skew_ns")
    return number_format.NONE if seen is None else f"{number_format.number(seen / 1000)} µs"

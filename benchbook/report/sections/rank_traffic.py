"""What ranks of MPI sent each other, and where their time went, as the page of a paper has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.sections import time_shares
from benchbook.report.wording import Paper

# The share of the ranks' time in each kind of work, in the order of the columns.
SHARES = time_shares.OF_RANKS
Point = Mapping[str, Any]


def rows(paper: Paper, name: str) -> list[dict[str, Any]]:
    """{name, point, rate, data, messages, size, calls, shares, balance, gain, uncounted} of every
    measured point of one experiment whose program has ranks, in text. Rates are of all ranks in the
    median time: operations, bytes sent (10^6 a second), messages; `gain` is the time over TCP ÷ the
    time over shared memory, `uncounted` the time ÷ that of the build that counts nothing."""
    own = [point for point in paper["points"] if _is_shown(point, name)]
    times = {(point["variant"], _setting(point)): float(point["time_ns"]) for point in own}
    return [
        _row(paper, point, times)
        for point in own
        if point["observations"].get("rank_messages") is not None
    ]


def _is_shown(point: Point, name: str) -> bool:
    return (
        point["experiment"] == name
        and point["state"] == "ok"
        and not point["twin"]
        and bool(point.get("time_ns"))
        and "rank_count" in point.get("observations", {})
    )


def _setting(point: Point, **changed: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted({**point["factors"], **changed}.items()))


def _row(
    paper: Paper, point: Point, times: Mapping[tuple[str, tuple[tuple[str, Any], ...]], float]
) -> dict[str, Any]:
    seen, time_s = point["observations"], point["time_ns"] / 1e9
    sent = seen["rank_message_bytes"] + seen["collective_bytes"]
    messages, variant = seen["rank_messages"], point["variant"]
    in_memory = times.get((variant, _setting(point, path="memory")))
    uncounted = times.get(("uncounted", _setting(point)))
    is_over_tcp = point["factors"].get("path") == "veth"
    return {
        "name": wording.point_name(paper, point["point"]),
        "point": point["point"],
        "rate": number_format.count(seen["operations"] / time_s / 1e6),
        "data": _rate(sent / time_s / 1e6, sent),
        "messages": _rate(messages / time_s, messages),
        "size": number_format.count(seen["rank_message_bytes"] / messages)
        if messages
        else number_format.NONE,
        "calls": number_format.count(seen["collective_calls"]),
        "shares": [number_format.share(seen[column]) for column in SHARES],
        "balance": f"{seen['busiest_rank_ratio']:.2f}",
        "gain": _ratio(point, in_memory if is_over_tcp else None),
        "uncounted": _ratio(point, uncounted if variant == "mpich" else None),
    }


def _rate(value: float, count: float) -> str:
    return number_format.number(value) if count else number_format.NONE


def _ratio(point: Point, reference_ns: float | None) -> str:
    return f"{point['time_ns'] / reference_ns:.2f}" if reference_ns else number_format.NONE

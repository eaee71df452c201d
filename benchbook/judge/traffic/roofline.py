"""Rates beyond all caches, what moved meanwhile, and what memory attained here."""

from __future__ import annotations

import math
from typing import Any

from benchbook.analyse.pairwise import Point
from benchbook.build.disassembly import RUNTIME
from benchbook.detect.inputs.thresholds import BEYOND
from benchbook.judge.traffic.bytes_moved import NOTHING, Value, same

WHOLE = 0.99  # of a buffer; a loop may leave out a rest shorter than its step


def against_ceilings(
    moved: list[dict[str, Any]],
    measured: dict[str, Point],
    content: dict[str, Any],
    bounds: list[dict[str, Any]],
    total_llc_bytes: int | None,
) -> dict[str, Any]:
    """{threads, rows, levels}: one point of every variant and method whose buffers together exceed
    the caches, at most threads: its declared rate, and what it moved meanwhile.

    The levels are the ceilings with as many threads; where the experiment declares none, the best
    of these points that delivered all that they declare.
    """
    least = math.inf if total_llc_bytes is None else BEYOND * total_llc_bytes
    beyond = [
        point
        for point in measured.values()
        if content["buffers"] * point["factors"].get("bytes", 0) >= least
        and point["factors"].get("processes", 1) == 1
    ]
    threads = max((point["factors"].get("threads", 1) for point in beyond), default=1)
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    for point in beyond:
        if point["factors"].get("threads", 1) != threads:
            continue
        row = _under(point, traffic_of(point, moved, content))
        key = point["variant"], str(point["factors"].get("method", ""))
        if key not in chosen or _telling(row) > _telling(chosen[key]):
            chosen[key] = row
    order = list(content["definitions"])
    rows = sorted(
        chosen.values(),
        key=lambda row: order.index(row["method"]) if row["method"] in order else len(order),
    )
    return {"threads": threads, "rows": rows, "levels": _levels(rows, bounds, threads)}


def _under(point: Point, moved: Value) -> dict[str, Any]:
    names = ("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s")
    rate = point["rate_bytes_per_s"]
    value = moved["value"]
    return {
        **{key: point[key] for key in ("point", "variant", "factors", *names)},
        "method": str(point["factors"].get("method", "")),
        "done": point["observations"].get("work_done_fraction"),
        "moved": moved,
        "moved_bytes_per_s": {**moved, "value": None if value is None else value * rate},
    }


def _telling(row: dict[str, Any]) -> tuple[bool, int]:
    return row["moved"]["value"] is not None, row["factors"]["bytes"]


def _levels(
    rows: list[dict[str, Any]], bounds: list[dict[str, Any]], threads: int
) -> list[dict[str, Any]]:
    keep = ("traffic", "method", "point", "rate_bytes_per_s")
    levels = [{key: bound[key] for key in keep} for bound in bounds if bound["threads"] == threads]
    whole = [row for row in rows if row["done"] == 1]
    if bounds or not whole:
        return levels
    best = max(whole, key=lambda row: row["rate_bytes_per_s"])
    return [{"traffic": "", **{key: best[key] for key in keep[1:]}}]


def traffic_of(point: Point, moved: list[dict[str, Any]], content: dict[str, Any]) -> Value:
    """Bytes moved ÷ bytes declared at a point: its own, else that of the same at another size.

    A simulation's is scaled: a buffer that was touched whole is touched whole at any size, and
    what was touched in part stays as large. How the C library copies depends on the size, so a
    function that leaves its whole work to it tells of its own size only.
    """
    own = next((row for row in moved if row["point"] == point["point"]), None)
    if own is not None and (own["moved"]["value"] is None or own["moved"]["state"] == "ok"):
        return dict(own["moved"])
    wanted = same(point, content)
    row = own or next(
        (
            row
            for row in moved
            if same(row, content) == wanted
            and row["moved"]["state"] == "simulated"
            and not _leaves_all(point)
        ),
        None,
    )
    if row is None:
        return {**NOTHING, "reason": "neither counted nor simulated"}
    if row["moved"]["state"] != "simulated":
        return dict(row["moved"])
    return {**row["moved"], "value": _scaled(row, point)}


def _leaves_all(point: Point) -> bool:
    calls = point["observations"].get("library_calls")
    own = None if calls is None else [call for call in calls if not call.startswith(RUNTIME)]
    return own != [] and "block_bytes" not in point["factors"]


def _scaled(row: dict[str, Any], point: Point) -> float:
    grows = point["factors"]["bytes"] / row["of_bytes"]["bytes"]
    read, written = (
        row[f"buffers_{side}"]["value"] * (grows if _whole(row, side) else 1)
        for side in ("read", "written")
    )
    # A line that is written is read before, as the simulation has it.
    once = read + 2 * written
    unscaled = row["buffers_read"]["value"] + 2 * row["buffers_written"]["value"]
    return float(row["moved"]["value"] * once / unscaled / grows)


def _whole(row: dict[str, Any], side: str) -> bool:
    return bool(row[f"buffers_{side}"]["value"] >= WHOLE)

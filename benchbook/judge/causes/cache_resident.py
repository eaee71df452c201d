"""The buffers fit in a cache on one side, or in a nearer one than on the other.

Predicted by another honest method, or by the base's own sweep, at the two sizes.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse.pairwise import SIZE, setting
from benchbook.core.sizes import format_bytes
from benchbook.judge import reference_rates
from benchbook.judge.cause_context import (
    Answer,
    CannotTell,
    Context,
    Excluded,
    Point,
    Predicted,
    fact,
    row,
)

CAUSE = "cache-resident"
TITLE = "size fits a cache"


def predict(context: Context) -> Answer:
    """From the sizes against the caches."""
    sizes = [side["factors"].get(SIZE) for side in context.sides()]
    if None in sizes:
        return CannotTell("a side has no size")
    evidence = [row(side, "buffers_bytes", "bytes") for side in context.sides()]
    if sizes[0] == sizes[1]:
        why = (
            f"Both sides declare buffers of {format_bytes(sizes[0])}; size alone does not set them "
            "apart."
        )
        return Excluded(why, evidence)
    at_work = [_at_work(context, side) for side in context.sides()]
    evidence += [
        fact(f"{name}_bytes", size, "bytes", "host") for name, size in context.caches.items()
    ]
    words = " and ".join(f"{format_bytes(int(size))} ({_where(context, size)})" for size in at_work)
    elsewhere = _elsewhere(context, sizes[0], sizes[1])
    if elsewhere is None:
        return CannotTell(f"{words} are at work, and no other honest method has both sizes")
    log, name = elsewhere
    why = f"{words} are at work; {name} shows what these sizes change."
    return Predicted(log, why, evidence)


def _at_work(context: Context, side: Point) -> float:
    streams = reference_rates.streams(side)
    if streams is not None:
        return sum(streams[:2])
    return float(side["observations"].get("buffers_bytes") or _buffers(context, side))


def _buffers(context: Context, side: Point) -> float:
    return float(context.content["buffers"] * side["factors"][SIZE])


def _where(context: Context, at_work: float) -> str:
    cores = max((side["factors"].get("threads", 1) for side in context.sides()), default=1)
    for name, size in sorted(context.caches.items(), key=lambda cache: cache[1]):
        shared = context.total_llc_bytes if size == max(context.caches.values()) else cores * size
        if at_work <= (shared or size):
            return f"fits {name}"
    return "beyond all caches"


def _elsewhere(context: Context, near: int, far: int) -> tuple[Any, str] | None:
    """Logs of the rate ratio of two sizes that another honest setting shows, and its name."""
    pair = setting(context.with_cause)
    candidates: dict[tuple[Any, ...], Point] = {}
    by_id = sorted(context.points.values(), key=lambda point: str(point["point"]))
    for point in [context.base, *by_id]:
        key = setting(point)
        alike = point["variant"] == context.with_cause["variant"] and _starts(context, point)
        if key != pair and alike and reference_rates.does_all(point):
            candidates.setdefault(key, point)
    for like in candidates.values():
        sweep = reference_rates.same_method(context, like)
        if near in sweep and far in sweep:
            logs = (context.logs[sweep[size]["point"]] for size in (near, far))
            return next(logs) - next(logs), _name(context, like)
    sweep = reference_rates.same_method(context, context.base)
    low, high = reference_rates.at(context, sweep, near), reference_rates.at(context, sweep, far)
    if low is None or high is None:
        return None
    return low - high, f"{_name(context, context.base)} at sizes nearby"


def _starts(context: Context, point: Point) -> bool:
    """Started as the odd side is, but for its size."""
    return all(
        point["factors"].get(name) == context.with_cause["factors"].get(name)
        for name in context.content["starts"]
        if name != SIZE
    )


def _name(context: Context, point: Point) -> str:
    method = str(point["factors"].get("method", point["variant"]))
    return str(context.content.get("names", {}).get(method, method))

"""What honest copies say of the speed at a working set: rates by size of points that did all work.

The times that it rests on are never those of the two points that a prediction is about.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchbook.analyse.pairwise import SIZE, setting
from benchbook.judge.cause_context import Context, Point, seen

NEAR = 8.0  # between two sizes further apart than this nothing is guessed


def does_all(point: Point) -> bool:
    """It delivered all that it declares."""
    return bool(seen(point, "work_done_fraction") == 1)


def same_method(context: Context, like: Point) -> dict[int, Point]:
    """Size -> the honest point like this one that has this size, those of the step left out."""
    wanted = setting(like)
    return {
        point["factors"][SIZE]: point
        for name, point in context.points.items()
        if name not in context.apart()
        and name in context.logs
        and SIZE in point["factors"]
        and setting(point) == wanted
        and does_all(point)
    }


def at(context: Context, sizes: dict[int, Point], wanted: float) -> Any | None:
    """Logs of the rate by block at a size: measured, or between two near sizes on log axes.

    None where the size lies outside of the sweep, or between sizes that are too far apart.
    """
    if wanted in sizes:
        return context.logs[sizes[int(wanted)]["point"]]
    below = max((size for size in sizes if size < wanted), default=None)
    above = min((size for size in sizes if size > wanted), default=None)
    if below is None or above is None or above > NEAR * below:
        return None
    share = math.log(wanted / below) / math.log(above / below)
    low, high = (context.logs[sizes[size]["point"]] for size in (below, above))
    return (1 - share) * low + share * high


def beyond(context: Context, bytes_at_work: float) -> bool:
    """Whether that many bytes exceed the last-level cache; where that is unknown they do."""
    return context.total_llc_bytes is None or bytes_at_work > context.total_llc_bytes


def streams(point: Point) -> tuple[float, float, float] | None:
    """Distinct bytes read, distinct bytes written, bytes of one call's block: of a copy whose
    check counted its blocks; None of any other point."""
    read, written = (
        seen(point, "distinct_source_blocks"),
        seen(point, "destination_written_fraction"),
    )
    size = point["factors"].get(SIZE)
    if read is None or written is None or not size:
        return None
    block = point["factors"].get("block_bytes", size)
    return min(size, read * block), written * size, block


def of_working_set(context: Context, point: Point) -> tuple[Any | None, str]:
    """Logs of the rate by block that honest copies predict for what a copy really touches, and
    what is missing where there is none.

    A byte costs what it costs in an honest copy with the same working set, unless its block was at
    work just before: then what it costs in a copy of one block. Beyond the caches a line that is
    written is moved twice, one that is read once; within them either is moved as often.
    """
    touched = streams(point)
    if touched is None:
        return None, "what it touches was not observed"
    read, written, block = touched
    size = point["factors"][SIZE]
    sweep = same_method(context, context.base)
    far = at(context, sweep, (read + written) / 2)
    if far is None:
        return None, "no honest copy with a working set near it was measured"
    if read == written == size:
        return far, ""
    near = at(context, sweep, block)
    if near is None:
        return None, "no honest copy of one block was measured"
    weights = (1, 2) if beyond(context, read + written) else (1, 1)
    share = (weights[0] * read + weights[1] * written) / size / sum(weights)
    return -np.log((1 - share) * np.exp(-near) + share * np.exp(-far)), ""

"""The C library copies in another way on the two sides, by the size of a call.

Predicted by the same switch at another size of block: the twin's library takes one way for all.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse.pairwise import SIZE
from benchbook.build.disassembly import RUNTIME
from benchbook.core.sizes import format_bytes
from benchbook.evidence import memcpy_thresholds
from benchbook.judge import reference_rates
from benchbook.judge.cause_context import (
    Answer,
    CannotTell,
    Context,
    Evidence,
    Excluded,
    Point,
    Predicted,
    fact,
    row,
    seen,
)

CAUSE = "copy-path-switch"
TITLE = "C library's way of copying"
BLOCK = "block_bytes"


def predict(context: Context) -> Answer:
    """From the library's thresholds and the size of a call."""
    evidence = [row(side, "library_calls") for side in context.sides()]
    calls = [calls_of(side) for side in context.sides()]
    if None in calls:
        return CannotTell("what the timed functions call was not looked at")
    if not any(calls):
        return Excluded("Neither side leaves its copying to the C library.", evidence)
    if not all(calls):
        return CannotTell("only one side leaves its copying to the C library, which is no switch")
    ways = [way_of(context, side) for side in context.sides()]
    evidence += [
        row_of_library
        for side in context.sides()
        for row_of_library in thresholds_as_rows(context, side)
    ]
    if not all(ways):
        return CannotTell("the C library does not tell how it copies calls of these sizes here")
    if ways[0] == ways[1]:
        sizes = [_size(side) for side in context.sides()]
        why = f"Calls of {sizes[0]} and of {sizes[1]} are both {ways[0]}."
        return Excluded(why, evidence)
    if not context.twin:
        return CannotTell("no control build has a library that copies in the other way")
    elsewhere = _elsewhere(context)
    if elsewhere is None:
        return CannotTell("this switch was measured at no other size of block near this one")
    log, block = elsewhere
    why = (
        f"Calls of {_size(context.with_cause)} are {ways[0]}, those of the control build "
        f"{ways[1]}; blocks of {format_bytes(block)} show what that changes."
    )
    return Predicted(log, why, evidence)


def calls_of(side: Point) -> list[str] | None:
    """Library calls of the timed function, those of the OpenMP runtime left out; None where the
    function was not looked at. A kernel that tells the length of its vectors wrote them itself."""
    calls = seen(side, "library_calls")
    if calls is None and seen(side, "vector_bits"):
        return []
    return None if calls is None else [call for call in calls if not call.startswith(RUNTIME)]


def call_bytes(side: Point) -> float:
    """Bytes that one call copies: a block, else a thread's part of the whole."""
    factors = side["factors"]
    return float(factors.get(BLOCK) or factors[SIZE] / factors.get("threads", 1))


def way_of(context: Context, side: Point) -> str:
    """How the library copies a call of this side; "" where it does not say."""
    thresholds = context.thresholds.get(side["variant"], {})
    return memcpy_thresholds.path_of(call_bytes(side), thresholds, context.isa)


def thresholds_as_rows(context: Context, side: Point) -> Evidence:
    """The library's thresholds, as rows of evidence."""
    thresholds = context.thresholds.get(side["variant"], {})
    return [
        fact(f"{name}_bytes", value, "bytes", "C library", side["point"])
        for name, value in thresholds.items()
    ]


def _size(side: Point) -> str:
    return format_bytes(int(call_bytes(side)))


def _elsewhere(context: Context) -> tuple[Any, int] | None:
    """Logs of the ratio of the two variants with blocks of another size, the nearest; None where
    that is further than a switch at one size tells of another."""
    with_cause, without_cause = context.sides()
    if with_cause["variant"] == without_cause["variant"]:
        return None
    pairs: dict[int, tuple[Point, Point]] = {}
    for point in context.points.values():
        block = point["factors"].get(BLOCK)
        twin = next(
            (two for two in context.points.values() if _twins(point, two, without_cause)), None
        )
        if block and twin and _another_block(point, with_cause) and reference_rates.does_all(point):
            pairs[block] = point, twin
    own = with_cause["factors"].get(BLOCK, with_cause["factors"][SIZE])
    for block in sorted(pairs, key=lambda size: (_apart(size, own), size)):
        if _apart(block, own) > reference_rates.NEAR:
            return None
        names = [point["point"] for point in pairs[block]]
        if not set(names) & set(context.apart()):
            return context.logs[names[0]] - context.logs[names[1]], block
    return None


def _apart(size: float, another: float) -> float:
    return max(size, another) / min(size, another)


def _twins(point: Point, candidate: Point, removed: Point) -> bool:
    return candidate["variant"] == removed["variant"] and candidate["factors"] == point["factors"]


def _another_block(point: Point, like: Point) -> bool:
    def rest(side: Point) -> dict[str, Any]:
        return {key: value for key, value in side["factors"].items() if key != BLOCK}

    return point["variant"] == like["variant"] and rest(point) == rest(like) and point is not like

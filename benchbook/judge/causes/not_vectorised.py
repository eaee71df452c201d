"""The same source became scalar code on one side and vectors on the other.

Predicted by other binaries with loops as wide as these, at the same setting.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import listed
from benchbook.judge import reference_rates
from benchbook.judge.cause_context import (
    Answer,
    CannotTell,
    Context,
    Excluded,
    Point,
    Predicted,
    row,
    seen,
)
from benchbook.judge.causes.copy_path_switch import calls_of

CAUSE = "not-vectorised"
TITLE = "scalar code"
WIDEST = "widest_access_bytes"
MOST_NAMED = 3


def predict(context: Context) -> Answer:
    """From the width of the loads and stores in the timed loops."""
    evidence = [row(side, WIDEST, "bytes", "disassembly") for side in context.sides()]
    widths = [width_of(side) for side in context.sides()]
    if any(calls_of(side) for side in context.sides()):
        return CannotTell("a side leaves its loop to the C library")
    if None in widths:
        return CannotTell("how wide the loads and stores of the loops are was not looked at")
    if widths[0] == widths[1]:
        return Excluded(f"Both loops move {widths[0]} bytes at a time.", evidence)
    alike = [_others(context, width) for width in widths]
    if not all(alike):
        return CannotTell("no other binary has a loop as wide at this setting")
    logs = [sum(context.logs[point["point"]] for point in same) / len(same) for same in alike]
    named = [_named(same) for same in alike]
    why = (
        f"The loop moves {widths[0]} bytes at a time, that of its control build "
        f"{widths[1]}. The loops of {named[0]} and of {named[1]} differ alike, and show what "
        "that changes."
    )
    return Predicted(logs[0] - logs[1], why, evidence)


def width_of(side: Point) -> Any | None:
    """Bytes that the widest load or store of the timed loop moves; None where unknown."""
    bits = seen(side, "vector_bits")
    return seen(side, WIDEST) or (bits // 8 if bits else None)


def _others(context: Context, width: Any) -> list[Point]:
    """Honest points of other binaries at the same setting, whose loop is as wide; not those of no
    optimisation, which do more than move."""
    return [
        point
        for name, point in context.points.items()
        if name not in context.apart()
        and name != context.base["point"]
        and point["factors"] == context.with_cause["factors"]
        and width_of(point) == width
        and not calls_of(point)
        and _optimised(context, point)
        and reference_rates.does_all(point)
    ]


def _optimised(context: Context, point: Point) -> bool:
    flags = context.content["variants"].get(point["variant"], {}).get("flags", [])
    return "-O0" not in flags and any(flag.startswith("-O") for flag in flags)


def _named(points: list[Point]) -> str:
    if len(points) > MOST_NAMED:
        return f"{len(points)} other binaries"
    return listed([point["variant"] for point in points])

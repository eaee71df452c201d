"""Ordinary stores read each line before they write it; stores past the caches do not.

Predicted by the bytes that move for each byte declared, counted or simulated; where they were
neither, by the lines that such stores move.
"""

from __future__ import annotations

import math

from benchbook.analyse.pairwise import SIZE
from benchbook.core.sizes import format_bytes
from benchbook.evidence import memcpy_thresholds
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
from benchbook.judge.causes.copy_path_switch import calls_of, thresholds_as_rows, way_of
from benchbook.judge.causes.libcall_substituted import way_by_hand
from benchbook.judge.traffic.roofline import traffic_of

CAUSE = "write-allocate"
TITLE = "lines are read before they are written"
NAMES = ("non_temporal_stores", "string_instructions", "library_calls")
COUNTED = ("ok", "replayed", "imported")


def predict(context: Context) -> Answer:
    """From the stores of either side, and what they move."""
    evidence = [row(side, name, source="disassembly") for side in context.sides() for name in NAMES]
    ways = [_way(context, side) for side in context.sides()]
    if "" in ways:
        return CannotTell("whether a side's stores read their lines first was not looked at")
    if ways[0] == ways[1]:
        return Excluded(f"Both sides store by {_named(ways[0])}.", evidence)
    if memcpy_thresholds.STRING in ways:
        return CannotTell("whether `rep movsb` reads lines before it writes them was not counted")
    at_work = min(side["bytes_per_call"] for side in context.sides())
    if not reference_rates.beyond(context, at_work):
        return CannotTell(f"the {format_bytes(int(at_work))} moved by one call fit a cache")
    for side in context.sides():
        evidence += thresholds_as_rows(context, side) if calls_of(side) else []
    moved = []
    for side, way in zip(context.sides(), ways, strict=True):
        value, source, state = _moved(context, side, way)
        moved.append(value)
        moved_row = fact("bytes_moved_per_byte_declared", value, "", source, side["point"])
        evidence.append(moved_row | {"state": state})
    why = (
        f"For each byte declared {moved[0]:.3g} move by {_named(ways[0])} and {moved[1]:.3g} by "
        f"{_named(ways[1])}, and beyond the caches these bytes take the time."
    )
    return Predicted(math.log(moved[1] / moved[0]), why, evidence)


def _moved(context: Context, side: Point, way: str) -> tuple[float, str, str]:
    """Bytes moved ÷ bytes declared, the source and its state. A simulation knows no stores past
    the caches: there each line that is named moves once."""
    traffic = traffic_of(side, context.moved, context.content)
    if traffic["value"] and (traffic["state"] in COUNTED or way == memcpy_thresholds.LOOP):
        return float(traffic["value"]), traffic["source"], traffic["state"]
    arrays = side["bytes_per_call"] / side["factors"][SIZE]
    # mbw declares what it copies once, STREAM what it reads and what it writes.
    lines = max(arrays, 2.0) + (1.0 if way == memcpy_thresholds.LOOP else 0.0)
    return lines / arrays, "lines that such stores move", "ok"


def _way(context: Context, side: Point) -> str:
    calls = calls_of(side)
    if calls is None:
        return ""
    return way_of(context, side) if calls else way_by_hand(side)


def _named(way: str) -> str:
    return "ordinary stores" if way == memcpy_thresholds.LOOP else way

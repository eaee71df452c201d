"""The source stays: one block is read again and again, from the first cache.

Predicted by honest copies whose working set is what the two points really touch.
"""

from __future__ import annotations

from benchbook.core.number_format import count
from benchbook.core.sizes import format_bytes
from benchbook.judge import reference_rates
from benchbook.judge.cause_context import (
    Answer,
    CannotTell,
    Context,
    Evidence,
    Excluded,
    Point,
    Predicted,
    row,
    seen,
)

CAUSE = "source-not-advanced"
TITLE = "source stays in place"
OBSERVED = ("distinct_source_blocks", "blocks_declared")


def predict(context: Context) -> Answer:
    """From distinct source blocks."""
    evidence = [row(side, name) for side in context.sides() for name in OBSERVED]
    moves = [_moves(side) for side in context.sides()]
    if None in moves:
        return CannotTell("how many source blocks arrived was not observed")
    if all(moves):
        return Excluded("On both sides every source block arrived.", evidence)
    return between(context, evidence, _said(context))


def _moves(side: Point) -> bool | None:
    arrived, declared = seen(side, "distinct_source_blocks"), seen(side, "blocks_declared")
    if arrived is None or declared is None:
        return None
    return bool(arrived == declared)


def _said(context: Context) -> str:
    declared, arrived = (
        seen(context.with_cause, name) for name in ("blocks_declared", OBSERVED[0])
    )
    return f"{count(arrived)} of {count(declared)} source blocks arrived"


def between(context: Context, evidence: Evidence, observed: str) -> Answer:
    """The factor between what honest copies show at either side's working set."""
    logs, sizes = [], []
    for side in context.sides():
        log, lacks = reference_rates.of_working_set(context, side)
        touched = reference_rates.streams(side)
        if log is None or touched is None:
            return CannotTell(f"{observed}, but {lacks}")
        logs.append(log)
        sizes.append(sum(touched[:2]))
    why = (
        f"{observed}: {format_bytes(int(sizes[0]))} are at work instead of "
        f"{format_bytes(int(sizes[1]))}, and honest copies tell how fast either is."
    )
    return Predicted(logs[0] - logs[1], why, evidence)

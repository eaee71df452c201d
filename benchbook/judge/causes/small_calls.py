"""Many small calls where the twin makes one: each begins and ends a copy of its own.

Predicted by the trend of honest copies in larger blocks.
"""

from __future__ import annotations

import math
from typing import Any

from benchbook.analyse.pairwise import SIZE
from benchbook.core.number_format import count, listed
from benchbook.core.sizes import format_bytes
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

CAUSE = "small-calls"
TITLE = "many small calls"
DECLARED = "blocks_declared"
BLOCK = "block_bytes"


def predict(context: Context) -> Answer:
    """From the number of calls, and what larger blocks show."""
    evidence = [row(side, DECLARED, "blocks") for side in context.sides()]
    blocks = [seen(side, DECLARED) for side in context.sides()]
    if None in blocks:
        return CannotTell("how many calls a copy makes was not observed")
    if blocks[0] == blocks[1]:
        return Excluded(f"Either side makes {count(blocks[0])} calls.", evidence)
    larger = _larger(context)
    if len(larger) < 2:
        return CannotTell("fewer than two larger sizes of block were measured")
    factors = context.with_cause["factors"]
    sweep = reference_rates.same_method(context, context.base)
    whole = reference_rates.at(context, sweep, factors[SIZE])
    if whole is None:
        return CannotTell("no other copy in one call was measured at this size")
    near, far = sorted(larger)[:2]
    logs = [context.logs[larger[block]["point"]] for block in (near, far)]
    steps = math.log(near / factors[BLOCK]) / math.log(far / near)
    small: Any = logs[0] - steps * (logs[1] - logs[0])
    sizes = listed([format_bytes(block) for block in (near, far)])
    why = (
        f"{count(blocks[0])} calls instead of {count(blocks[1])}; the trend from blocks of "
        f"{sizes} is continued to {format_bytes(factors[BLOCK])}."
    )
    return Predicted(small - whole, why, evidence)


def _larger(context: Context) -> dict[int, Point]:
    """Size of block -> the honest point like the odd one with larger blocks."""
    odd = context.with_cause
    own = odd["factors"].get(BLOCK)
    if not own:
        return {}
    rest = {key: value for key, value in odd["factors"].items() if key != BLOCK}
    return {
        point["factors"][BLOCK]: point
        for name, point in context.points.items()
        if name not in context.apart()
        and point["variant"] == odd["variant"]
        and point["factors"].get(BLOCK, 0) > own
        and {key: value for key, value in point["factors"].items() if key != BLOCK} == rest
        and reference_rates.does_all(point)
    }

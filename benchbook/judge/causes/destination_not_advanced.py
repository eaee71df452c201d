"""The destination stays: one block is written again and again, in the first cache.

Predicted by honest copies whose working set is what the two points really touch.
"""

from __future__ import annotations

from benchbook.core.number_format import share
from benchbook.judge.cause_context import Answer, CannotTell, Context, Excluded, row, seen
from benchbook.judge.causes.source_not_advanced import between

CAUSE = "destination-not-advanced"
TITLE = "destination stays in place"
WRITTEN = "destination_written_fraction"


def predict(context: Context) -> Answer:
    """From the share of the destination that was written."""
    evidence = [row(side, WRITTEN) for side in context.sides()]
    written = [seen(side, WRITTEN) for side in context.sides()]
    if None in written:
        return CannotTell("how much of the destination was written was not observed")
    if written == [1, 1]:
        return Excluded("On both sides the whole destination was written.", evidence)
    return between(context, evidence, f"{share(written[0])} of the destination was written")

"""A buffer that was never written reads as one shared page of zeros."""

from __future__ import annotations

from benchbook.core.number_format import share
from benchbook.judge.cause_context import Answer, CannotTell, Context, Excluded, row

CAUSE = "zero-page"
TITLE = "shared page of zeros"
NAMES = ("anonymous_bytes", "buffers_bytes")
WHOLE = 0.999


def predict(context: Context) -> Answer:
    """From the memory behind the buffers: all of it their own, no effect."""
    evidence = [row(side, name, "bytes") for side in context.sides() for name in NAMES]
    own, sizes = evidence[::2], evidence[1::2]
    if any(fact["value"] is None for fact in evidence):
        return CannotTell("this system does not show which pages the buffers use")
    least = min(entry["value"] / size["value"] for entry, size in zip(own, sizes, strict=True))
    if least >= WHOLE:
        why = "On both sides the buffers have pages of their own for every byte."
        return Excluded(why, evidence)
    return CannotTell(f"only {share(least)} of the buffers have pages of their own")

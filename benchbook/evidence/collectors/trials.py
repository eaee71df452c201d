"""What happened to arrays beyond memory."""

from __future__ import annotations

from benchbook.evidence.oversized_runs import try_all
from benchbook.evidence.stage import Context, Row


def rows(context: Context) -> list[Row]:
    """One row per trial of the experiment."""
    return try_all(context.definition, context.pointer, context.plan)

"""Causes of an odd factor: one module each, found by its name, which is the cause's id.

A module has `CAUSE`, its id with hyphens; `TITLE`, a few words; and `predict(context)`, the factor
between `context.with_cause` and `context.without_cause` that the evidence of the run predicts. It
never reads the times of these two: their ratio is what the prediction is held against.

Standard library only: the Snakefile imports this.
"""

from __future__ import annotations

from typing import Any, Protocol

from benchbook.core import plugins
from benchbook.judge.cause_context import Answer, Context


class Cause(Protocol):
    """What a module of this package holds."""

    CAUSE: str
    TITLE: str

    def predict(self, context: Context) -> Answer:
        """The factor that the evidence predicts."""


def names() -> list[str]:
    """The ids of all causes."""
    return sorted(name.replace("_", "-") for name in plugins.module_names(__name__))


def cause_of(name: str) -> Any:
    """The module of a cause (see Cause)."""
    return plugins.load(__name__, name.replace("-", "_"))

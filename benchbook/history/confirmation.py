"""Whether a step is there when before and after are measured next to each other now."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from benchbook.ab.answer import Interval
from benchbook.history.steps import Step


class Outcome(StrEnum):
    """What a fresh measurement shows of a step, or why there is none."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    # Nothing was measured; behind each what `Confirmation.about` has.
    SAME_PROGRAM = "same_program"
    BINARY_GONE = "binary_gone"  # file, run, commit (of that run; empty where it is not recorded)
    BINARY_CHANGED = "binary_changed"  # file, run, commit
    NOT_OURS = "not_ours"  # variant: somebody else's program
    CANNOT_RUN = "cannot_run"  # reason
    NO_TIME = "no_time"  # other steps took it
    TOO_LONG = "too_long"  # seconds: what the fewest rounds take
    NO_COMMITS = "no_commits"  # what was kept does not say what was compared
    COMMAND_CHANGED = "command_changed"  # what builds the commits, or what is timed
    REFERENCE_CHANGED = "reference_changed"  # before, after: the commit that others are compared to


@dataclass(frozen=True)
class Confirmation:
    """The outcome for one step. Where it was measured: the time after over that before, the time
    before over itself (ratios with 99 % intervals), and in how many rounds."""

    outcome: Outcome
    factor: Interval | None = None
    null: Interval | None = None
    rounds: int = 0
    about: dict[str, Any] = field(default_factory=dict)


Key = tuple[int, int]  # of a step: the number of its series, and its own number there
Outcomes = dict[Key, Confirmation]


@dataclass(frozen=True)
class Job:
    """Steps that are measured together. `size`: of the largest of them, as a log ratio without its
    sign. `measure` gets the seconds that it may take and the handle of the measuring lock."""

    steps: list[Key]
    size: float
    measure: Callable[[float, int], Outcomes]


def outcome_of(step: Step, factor: Interval) -> Outcome:
    """What the time after over that before, as it was measured now, says of a step.

    Refuted: the interval excludes even half of the step (on a log scale); a smaller difference may
    be there, and does not explain it. Confirmed: it allows that half, and excludes no change.
    """
    half = math.sqrt(max(step.ratio, 1 / step.ratio))
    slower = factor if step.ratio > 1 else factor.inverse
    if slower.high < half:
        return Outcome.REFUTED
    return Outcome.CONFIRMED if slower.low > 1 else Outcome.UNDECIDED

"""From the costs of rounds to an answer: faster, slower, equal, or not to be told here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchbook.stats import signed_rank_interval

CONFIDENCE = 0.99
# How many looks at the figures share the error, and what each look may have of it so that all
# together err in at most 1 %: S. J. Pocock, "Group sequential methods in the design and analysis
# of clinical trials", Biometrika 64 (1977), 191-199, two-sided, looks at equal distances.
ERROR_OF_LOOK = {1: 0.01, 2: 0.00557, 5: 0.00283, 10: 0.00183}
# The fewest rounds of which the exact interval at that error is finite: 2 / 2^n <= error.
LEAST_ROUNDS = {looks: math.ceil(1 - math.log2(error)) for looks, error in ERROR_OF_LOOK.items()}


class Answer(StrEnum):
    """What is said of the second command, compared with the first."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUAL = "equal"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Interval:
    """A ratio of costs with its interval."""

    ratio: float
    low: float
    high: float

    @property
    def holds_one(self) -> bool:
        """Whether it allows that there is no difference."""
        return self.low <= 1 <= self.high

    @property
    def furthest(self) -> float:
        """The largest difference that it allows, as a share: 0.02 for 0.99 to 1.02."""
        if self.low <= 0 or math.isinf(self.high):
            return math.inf
        return max(1 / self.low - 1, self.high - 1)

    @property
    def inverse(self) -> Interval:
        """The ratio the other way round."""
        high = 1 / self.low if self.low > 0 else math.inf
        return Interval(1 / self.ratio, 1 / self.high, high)


@dataclass(frozen=True)
class Compared:
    """The cost of b over that of a, that of a over itself, and the answer."""

    answer: Answer
    factor: Interval  # widened by what `null` shows
    null: Interval
    rounds: int


def compared(logs: Sequence[tuple[float, float, float]], looks: int, equal: float) -> Compared:
    """Logs of costs (rounds, [a, a again, b]) -> the answer at one of `looks` looks.

    `equal` is the difference, as a share, up to which two commands are called equal. Where the two
    measurements of a differ, the interval of b over a is wider by the largest difference that they
    allow. Error: an answer is wrong in at most 1 - CONFIDENCE of comparisons, where rounds are
    independent and their differences are symmetric; both are what random order makes them.
    """
    table = np.asarray(logs, dtype=np.float64)
    first, again, second = table.T
    level = 1 - ERROR_OF_LOOK[looks]
    null = signed_rank_interval(again - first, level)
    both = signed_rank_interval(second - (first + again) / 2, level)
    holds = null.low <= 0 <= null.high
    wider = 0.0 if holds else max(abs(null.low), abs(null.high))
    factor = _ratio(both.estimate, both.low - wider, both.high + wider)
    return Compared(
        _answer(factor, equal), factor, _ratio(null.estimate, null.low, null.high), len(table)
    )


def _ratio(estimate: float, low: float, high: float) -> Interval:
    return Interval(*(math.exp(end) if end < 700 else math.inf for end in (estimate, low, high)))


def _answer(factor: Interval, equal: float) -> Answer:
    if factor.furthest <= equal:
        return Answer.EQUAL
    if factor.holds_one:
        return Answer.CANNOT_TELL
    return Answer.SLOWER if factor.low > 1 else Answer.FASTER

"""When the rounds of a comparison are looked at: all looks together keep its error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from benchbook.ab.answer import ERROR_OF_LOOK, LEAST_ROUNDS

ROUNDS_MOST = 200  # shorter runs are repeated within a round
OVER_BUDGET = 4  # times as long, until the fewest rounds of an interval are there


def looks_in(rounds: float) -> int:
    """The number of looks at so many rounds of which the first can decide already."""
    return max(
        looks for looks in ERROR_OF_LOOK if looks == 1 or rounds >= looks * LEAST_ROUNDS[looks]
    )


def until_decided(
    measure_round: Callable[[], int], is_decided: Callable[[], bool], looks: int, budget_s: float
) -> None:
    """Measure rounds until a look decides or the time is spent.

    `measure_round` returns how many rounds there are by now. Looks are at equal shares of the time;
    a look that comes too early for an interval is left out. The last one is when the time is spent.
    """
    began = time.monotonic()
    look = 1
    while True:
        few = measure_round() < LEAST_ROUNDS[looks]
        spent_s = time.monotonic() - began
        if few and spent_s < OVER_BUDGET * budget_s:
            continue
        if not few and spent_s < budget_s * look / looks:
            continue
        if is_decided() or spent_s >= budget_s:
            return
        look = math.floor(spent_s / budget_s * looks) + 1

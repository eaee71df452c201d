"""How finely a clock divided the intervals that it timed, as the intervals themselves show."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchbook.stats.checks import Floats, finite

LEAST_VALUES = 10
REPEATED = 2.0  # values to each distinct one, from which on they coincide too often for chance
LOOKED_AT = 200_000
ROUNDED = 1.0  # clocks are read in whole units, whatever their tick
LEAST_GROUPS = 2
LEAST_STEP = 4 * ROUNDED
DRIFT = 0.002  # of a value: the tick is no whole number of units
LEAST_SHARE = 0.002  # of the intervals, that a value needs to tell groups


class Ticks(NamedTuple):
    """`step`: what the intervals differ by at least, None where untold; `coincide`: there are at
    least twice as many intervals as distinct ones."""

    n: int
    distinct: int
    step: float | None
    coincide: bool


def ticks(intervals: ArrayLike) -> Ticks:
    """Intervals (n,) in whole units, as the clock gave them -> what its tick can be.

    A clock of coarse ticks gives whole numbers of them, so few distinct intervals, none of whose
    differences is below a tick. A tick that is no whole number of units leaves pairs of neighbours
    (20, 21, 30, 31): where the usual intervals come in at least two such groups, all at multiples
    of one step, that is it. Of more than 200,000 intervals the first are looked at. Below 10
    nothing is told, and always the same interval tells no tick.

    Error: without rounding the step is never below the tick. It is above it where no two intervals
    are neighbours: with few of them, far apart, by much; but those do not coincide.
    """
    looked_at = finite(intervals, "Ticks")[:LOOKED_AT]
    distinct, counts = np.unique(np.abs(looked_at), return_counts=True)
    n = len(looked_at)
    coincide = n >= REPEATED * len(distinct)
    if n < LEAST_VALUES or len(distinct) < 2:
        return Ticks(n, len(distinct), None, coincide)
    smallest = np.diff(np.r_[0.0, distinct])
    step = float(smallest[smallest > 0].min())
    usual = distinct[counts >= max(2, LEAST_SHARE * n)]
    return Ticks(n, len(distinct), max(step, _of_groups(usual)), coincide)


def _of_groups(distinct: Floats) -> float:
    """The step between groups of neighbours; 0 where they are not at multiples of one."""
    if len(distinct) < LEAST_GROUPS:
        return 0.0
    ends = np.flatnonzero(np.diff(distinct) > ROUNDED) + 1
    centres = np.array([group.mean() for group in np.split(distinct, ends)])
    if len(centres) < LEAST_GROUPS:
        return 0.0
    step = float(np.diff(centres).min())
    off = np.abs(centres - np.rint(centres / step) * step)
    return step if step >= LEAST_STEP and (off <= ROUNDED + DRIFT * centres).all() else 0.0

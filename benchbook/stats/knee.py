"""Where a size sweep falls: between which two sizes a cache stops holding the working set."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import finite

LEAST_SIZES = 4
DROP = 0.2


class Knee(NamedTuple):
    """Sizes between which the rate falls, and the rate after ÷ the rate before."""

    low: float
    high: float
    ratio: float


def last_knee(sizes: ArrayLike, rates: ArrayLike, drop: float = DROP) -> Knee | None:
    """The last fall by more than `drop` from one size to the next; None where there is none.

    `sizes` and `rates` (n,), any unit above zero. The knee is bracketed, not located: it lies
    between two neighbouring sizes. Error: a fall smaller than `drop` is not seen, so with a last
    level about as fast as memory the knee found is that of a smaller cache; a gradual fall over
    several sizes is bracketed by its last steep step.
    """
    x, y = finite(sizes, "Sizes of a sweep"), finite(rates, "Rates of a sweep")
    if len(x) != len(y):
        raise BenchbookError(f"A sweep has {len(x)} sizes but {len(y)} rates; give one for each.")
    if (x <= 0).any() or (y <= 0).any():
        raise BenchbookError("A size or a rate of the sweep is not above zero; leave it out.")
    if len(x) < LEAST_SIZES:
        return None
    order = np.argsort(x)
    x, y = x[order], y[order]
    falls = np.flatnonzero(y[1:] < y[:-1] * (1 - drop))
    if not len(falls):
        return None
    at = int(falls[-1])
    return Knee(float(x[at]), float(x[at + 1]), float(y[at + 1] / y[at]))

"""Straight lines through the points of each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import finite


def slopes(values: ArrayLike, rows: ArrayLike) -> NDArray[np.float64]:
    """Least-squares slope of each row (blocks, n) over the values (n,): (blocks,), in the unit of
    the rows per unit of the values.

    Error: none of its own; a straight line is drawn through whatever there is, so a slope says
    nothing of whether the growth is even.
    """
    along = finite(values, "Slope")
    table = finite(rows, "Slope", 2)
    from_mean = along - along.mean()
    total = float((from_mean**2).sum())
    if not total:
        raise BenchbookError("A slope needs two different values; measure at another one.")
    return np.asarray(table @ from_mean / total, dtype=np.float64)

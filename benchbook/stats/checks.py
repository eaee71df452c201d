"""What every function here asks of its input: the columns it needs, and finite numbers."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchbook.core.errors import BenchbookError

Floats = NDArray[np.float64]


def finite(values: ArrayLike, what: str, dimensions: int = 1) -> Floats:
    """The values as an array of floats; an error if empty, of another shape, NaN or infinite."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BenchbookError(f"{what}: not all values are numbers; remove the others.") from error
    if array.ndim != dimensions:
        raise BenchbookError(f"{what}: {dimensions} dimension(s) needed, {array.ndim} given.")
    if array.size == 0:
        raise BenchbookError(f"{what}: there are no values; measure at least one.")
    if not np.isfinite(array).all():
        raise BenchbookError(
            f"{what}: a value is NaN or infinite; find the failed point it came from."
        )
    return array


def positive_logs(values: ArrayLike, what: str, dimensions: int = 1) -> Floats:
    """Natural logarithms of the values; an error if one is not above zero."""
    array = finite(values, what, dimensions)
    if (array <= 0).any():
        raise BenchbookError(
            f"{what}: a value is not above zero; give each sample more loops, to be timed."
        )
    return np.log(array)


def probability(value: float, what: str) -> float:
    """The value, if it lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise BenchbookError(f"{what} is {value}; it must lie between 0 and 1.")
    return float(value)


def need_columns(table: pd.DataFrame, columns: Iterable[str], what: str) -> None:
    """An error that names the columns which the table lacks."""
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise BenchbookError(f"{what}: the table lacks {', '.join(missing)}; add the column(s).")

"""How far a mean may be off, by the spread that is printed with it."""

from __future__ import annotations

import math

from benchbook.explain.model import Result
from benchbook.explain.printed_digits import is_number

# Two-sided, 95 %, by degrees of freedom: that of the fewest that a step has, as no interval may be
# too narrow; of more it is 1.96.
_STUDENT = (
    *((1, 12.71), (2, 4.31), (3, 3.19), (4, 2.78), (6, 2.58), (8, 2.37), (9, 2.27), (14, 2.23)),
    *((19, 2.14), (29, 2.09), (59, 2.05), (119, 2.01), (499, 1.98)),
)
NORMAL = 1.96
_DEVIATIONS = ("stddev", "sd")


def student(free: float) -> float:
    """How many standard errors half of a 95 % interval is, by degrees of freedom."""
    return next((factor for most, factor in _STUDENT if free <= most), NORMAL)


def half_interval(figure: Result, spread: Result) -> float:
    """Half of the interval of a figure in base units: what was printed as an error or an interval
    as it is; of a deviation the 95 % interval of the mean where the runs are known, else the
    deviation itself."""
    value = spread.base_value
    if spread.statistic == "standard error":
        return NORMAL * value
    runs = figure.of.get("repetitions")
    if spread.statistic in _DEVIATIONS and is_number(runs) and runs > 1:
        return student(runs - 1) * value / math.sqrt(runs)
    return value

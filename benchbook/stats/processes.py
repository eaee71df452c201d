"""Several processes of one invocation, each with samples of its own: their rates added."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

KEYS = ["block", "invocation", "point"]


def add_rates(times: ArrayLike) -> float:
    """Times (n,) in which n processes each did the same work -> the time of all that work.

    In the unit of `times`: n ÷ the sum of 1 ÷ time, so that n times the work in it is the sum of
    the rates. NaN where one is NaN.

    Error: it is the rate of the machine only while all n were at work. A process that measures
    while another does not has more of the machine to itself, and the sum is too high; the
    observation overlap_fraction tells how much of the time all were at work.
    """
    each = np.asarray(times, dtype=float)
    if len(each) == 1:
        return float(each[0])
    with np.errstate(divide="ignore"):
        return float(len(each) / (1 / each).sum())


def median_of_processes(times: ArrayLike, process: ArrayLike, warm_up: int) -> float:
    """Times (n,) with their processes (n,) -> the medians after each one's warm-ups, by add_rates.

    Error: as in add_rates.
    """
    values, which = np.asarray(times), np.asarray(process)
    return add_rates([np.median(values[which == number][warm_up:]) for number in np.unique(which)])


def add_processes(summaries: pd.DataFrame) -> pd.DataFrame:
    """One row per process (column process) -> one per block, invocation and point.

    Every time (…_ns) by add_rates and bytes_declared by their sum, so that the row's rate is the
    sum of the processes' rates, as of a script that starts a program on each core and sums the
    averages. samples is their sum, paper_samples the least. Rows of one process stay as they are.

    Error: as in add_rates; a statistic that one process lacks is missing.
    """
    table = summaries.drop(columns="process")
    several = table.duplicated(KEYS, keep=False)
    if not several.any():
        return table
    how = {
        **dict.fromkeys((name for name in table if name.endswith("_ns")), add_rates),
        "samples": "sum",
        "paper_samples": "min",
        "bytes_declared": "sum",
    }
    added = table[several].groupby(KEYS, sort=True).agg(how)[table.columns.drop(KEYS)].reset_index()
    return pd.concat([table[~several], added]).sort_values(KEYS, ignore_index=True)

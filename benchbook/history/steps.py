"""Steps in a series of runs: where a measurement became slower or faster and stayed so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchbook.core.errors import BenchbookError
from benchbook.stats import two_groups
from benchbook.stats.checks import Floats, positive_logs

LEAST_RUNS = 8
LEAST_AFTER = 4  # runs, so that the last one alone is no step
LEAST_STEP = math.log(1.005)
LEAST_SPREAD = 1e-4
CLIP = 3.0  # spreads from the middle; what lies beyond counts as if it lay there
NEAR = 3  # runs on each side that a run is held against
PENALTY = 3.0  # times log(runs), in variances: what a change of the mean has to gain
WINDOW = 30  # runs on each side of a step that tell its size
LEAST_ALTERNATIONS = 3  # of two groups of runs, which are states of the machine and no step
# Of the step over its standard error, with the slope of a drift fitted beside it. By simulation:
# see tests/test_history.py. A step that is to be confirmed by measuring again may be less certain.
CERTAIN, WORTH_MEASURING = 3.4, 2.5


@dataclass(frozen=True)
class Step:
    """From run `at` (counted from 0) on the time is `ratio` times what it was, with a 95 %
    interval."""

    at: int
    ratio: float
    low: float
    high: float


def steps(values: Any, certainty: float = CERTAIN) -> list[Step]:
    """Values (n,) above zero, one per run, oldest first -> its steps, oldest first.

    Changes of the mean are found by PELT (ruptures), with what lies far out pulled in, and kept
    where a step is so certain next to a straight drift. Where the runs fall into two groups that
    alternate, each group is held against its own middle.

    Source: Killick, Fearnhead and Eckley, "Optimal Detection of Changepoints With a Linear
    Computational Cost", Journal of the American Statistical Association 107 (2012), 1590-1598.
    Error, simulated: see tests/test_history.py. Fewer than 8 runs have no step.
    """
    logs = positive_logs(values, "Series of runs")
    if len(logs) < LEAST_RUNS:
        return []
    series = _without_states(logs)
    spread = _spread(series)
    clipped = _clipped(series, spread)
    ends = [0, *_changes(clipped / spread), len(series)]
    found = []
    for before, at, after in zip(ends, ends[1:], ends[2:], strict=False):
        first, last = max(before, at - WINDOW), min(after, at + WINDOW)
        step = _step(clipped, first, at, last, certainty)
        if step is not None:
            found.append(step)
    return found


def _without_states(logs: Floats) -> Floats:
    """The series with two alternating states of the machine laid upon each other."""
    groups = two_groups(np.exp(logs))
    if groups is None:
        return logs
    upper = logs >= math.log(groups[1][0]) - 1e-12
    if np.count_nonzero(np.diff(upper)) < LEAST_ALTERNATIONS:
        return logs
    level = np.where(upper, np.median(logs[upper]), np.median(logs[~upper]))
    return logs - level


def _spread(series: Floats) -> float:
    """From run to run, by differences of neighbours: a step is in one of them only."""
    differences = np.abs(np.diff(series))
    return max(float(np.median(differences)) * 1.4826 / math.sqrt(2), LEAST_SPREAD)


def _clipped(series: Floats, spread: float) -> Floats:
    """Each run at most CLIP spreads from the median of its neighbours on either side, whichever is
    nearer, so that a step stays one and a run far out does not look like one."""
    result = series.copy()
    for index in range(len(series)):
        sides = [
            float(np.median(part))
            for part in (series[max(0, index - NEAR) : index], series[index + 1 : index + 1 + NEAR])
            if len(part) >= 2
        ]
        near = min(sides, key=lambda middle: abs(middle - series[index]))
        reach = CLIP * spread
        result[index] = np.clip(series[index], near - reach, near + reach)
    return result


def _changes(series: Floats) -> list[int]:
    """Where the mean of a series of unit spread changes, rising."""
    try:
        import ruptures
    except ImportError:
        raise BenchbookError(
            "ruptures, which finds steps, is not installed; run "
            "`scripts/in-env --with history benchbook history …`"
        ) from None
    search = ruptures.Pelt(model="l2", min_size=LEAST_AFTER, jump=1).fit(series)
    found: list[int] = search.predict(pen=PENALTY * math.log(len(series)))
    return found[:-1]


def _step(series: Floats, first: int, at: int, end: int, certainty: float) -> Step | None:
    """The step at `at` by least squares with a common slope; None where it is less certain."""
    own = series[first:end]
    run = np.arange(first, end) - at
    columns = [np.ones(len(own)), (run >= 0).astype(float)]
    if len(own) > 2 * LEAST_AFTER:
        columns.append(run / len(own))
    design = np.column_stack(columns)
    fitted, *_ = np.linalg.lstsq(design, own, rcond=None)
    rest = own - design @ fitted
    free = len(own) - design.shape[1]
    if free < 1:
        return None
    variance = max(float(rest @ rest) / free, LEAST_SPREAD**2)
    error = math.sqrt(variance * np.linalg.inv(design.T @ design)[1, 1] * _correlated(rest))
    size = float(fitted[1])
    middle = float(np.median(series[first:at])) + size / 2
    beyond = np.count_nonzero((series[at:end] - middle) * np.sign(size) > 0)
    if abs(size) < max(certainty * error, LEAST_STEP) or beyond < LEAST_AFTER:
        return None
    return Step(at, *(math.exp(size + reach * error) for reach in (0, -1.96, 1.96)))


def _correlated(rest: Floats) -> float:
    """By what factor neighbours that are alike make the variance of a mean larger."""
    power = float(rest @ rest)
    r = float(rest[1:] @ rest[:-1]) / power if power > 0 else 0.0
    r = min(max(r + 1 / len(rest), 0.0), 0.9)  # from few runs the estimate is too low
    return (1 + r) / (1 - r)

"""Levels of a time along sizes: where it stays, and between which two sizes it begins to rise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats
from benchbook.stats.intervals import Interval, signed_rank_interval

FLAT = 0.2  # times within this share of each other are one level
LEAST_SIZES = 3  # of a level
POINTWISE = 0.95


class Plateau(NamedTuple):
    """The sizes `low` to `high` at which the time stays, and that time with its interval."""

    low: float
    high: float
    time: float
    time_low: float
    time_high: float


class Rise(NamedTuple):
    """How the time goes on behind a plateau: to the next one, or (not `settled`) to the last size.

    Where it surely rises (`told`), it passes the middle of the step between the sizes `low` and
    `high`; else `why` says what is in the way. `ratio`: time after ÷ before, with its interval.
    """

    told: bool
    settled: bool
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    why: str


class Levels(NamedTuple):
    """Plateaus by size. One rise for each of them that is followed by a size; none behind the last
    where the time stays to the end."""

    plateaus: list[Plateau]
    rises: list[Rise]


class _Run(NamedTuple):
    """Sizes `first` to `last`, both included, by number."""

    first: int
    last: int


def levels(sizes: ArrayLike, times: ArrayLike, flat: float = FLAT) -> Levels:
    """Plateaus of `times` (sizes, blocks), above zero, along `sizes` (sizes,), any order.

    A plateau is the longest run of at least three sizes whose medians over the blocks lie within
    `flat` of each other; then the longest of what is left on both sides. Neighbours whose ratio is
    within `flat` are one. Behind a plateau the time rises if the exact signed-rank interval of the
    ratio after ÷ before, paired within blocks, lies above 1 + `flat`, and its estimate above the
    noise: the half-width of the interval that a single size has, in the median over the sizes of
    both. The middle of the step is the geometric mean of both; it lies between the last size that
    is surely below it and the first that is surely above.

    Errors: intervals are pointwise (95 %), and need 6 blocks to be finite. A slope of less than
    `flat` in three sizes counts as a level; a step smaller than `flat`, or a cache with fewer than
    three sizes of its own, is not seen.
    """
    at, logs = _sorted(sizes, times)
    if len(at) < LEAST_SIZES:
        return Levels([], [])
    limit = float(np.log1p(flat))
    middle = np.median(logs, axis=1)
    runs = _merged(_runs(middle, 0, len(at) - 1, limit), logs, limit)
    plateaus = [_plateau(run, at, logs) for run in runs]
    rises = []
    for k, run in enumerate(runs):
        settled = k + 1 < len(runs)
        after = runs[k + 1] if settled else _Run(len(at) - 1, len(at) - 1)
        if after.last > run.last:
            rises.append(_rise(run, after, settled, at, logs, limit))
    return Levels(plateaus, rises)


def _sorted(sizes: ArrayLike, times: ArrayLike) -> tuple[Floats, Floats]:
    at, table = np.asarray(sizes, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if at.ndim != 1 or table.ndim != 2 or len(at) != len(table):
        raise BenchbookError(
            f"A sweep has sizes {at.shape} but times {table.shape}; give a row of blocks for each."
        )
    whole = np.isfinite(at).all() and np.isfinite(table).all()
    if not whole or (at <= 0).any() or (table <= 0).any():
        raise BenchbookError("A size or a time of the sweep is not above zero; leave it out.")
    if len(set(at.tolist())) < len(at):
        raise BenchbookError("A size of the sweep is there twice; give each once.")
    if table.shape[1] == 0:
        raise BenchbookError("A sweep has no block; give one at least.")
    order = np.argsort(at)
    return at[order], np.log(table[order])


def _runs(middle: Floats, first: int, last: int, limit: float) -> list[_Run]:
    """The longest flat run of these sizes, the flattest of equal ones, and those on its sides."""
    best: tuple[int, float, _Run] | None = None
    for begin in range(first, last - LEAST_SIZES + 2):
        end = begin
        while end < last and np.ptp(middle[begin : end + 2]) <= limit:
            end += 1
        best_split = (end - begin + 1, -float(np.ptp(middle[begin : end + 1])), _Run(begin, end))
        if best_split[0] >= LEAST_SIZES and (best is None or best_split[:2] > best[:2]):
            best = best_split
    if best is None:
        return []
    run = best[2]
    return [
        *_runs(middle, first, run.first - 1, limit),
        run,
        *_runs(middle, run.last + 1, last, limit),
    ]


def _mean(run: _Run, logs: Floats) -> Floats:
    mean: Floats = logs[run.first : run.last + 1].mean(axis=0)
    return mean


def _merged(runs: list[_Run], logs: Floats, limit: float) -> list[_Run]:
    """Neighbours of one level, as far as the estimate goes, are one plateau."""
    kept: list[_Run] = []
    for run in runs:
        if kept and abs(np.median(_mean(run, logs) - _mean(kept[-1], logs))) <= limit:
            run = _Run(kept.pop().first, run.last)  # noqa: PLW2901
        kept.append(run)
    return kept


def _interval(values: Floats) -> Interval:
    return signed_rank_interval(values, POINTWISE)


def _plateau(run: _Run, at: Floats, logs: Floats) -> Plateau:
    interval = _interval(_mean(run, logs))
    times = (float(np.exp(log)) for log in (interval.estimate, interval.low, interval.high))
    return Plateau(float(at[run.first]), float(at[run.last]), *times)


def _rise(run: _Run, after: _Run, settled: bool, at: Floats, logs: Floats, limit: float) -> Rise:
    before, behind = _mean(run, logs), _mean(after, logs)
    step = _interval(behind - before)
    middle = (before + behind) / 2
    own = [_interval(logs[k] - middle) for k in range(run.first, after.last + 1)]
    beyond = run.last - run.first + 1
    above = [k for k, interval in enumerate(own) if k >= beyond and interval.low > 0]
    high = above[0] if above else len(own) - 1
    below = [k for k, interval in enumerate(own[:high]) if interval.high < 0]
    low = below[-1] if below else 0
    why = _why(step, _noise([run, after], logs), limit)
    return Rise(
        told=not why,
        settled=settled,
        low=float(at[run.first + low]),
        high=float(at[run.first + high]),
        ratio=float(np.exp(step.estimate)),
        ratio_low=float(np.exp(step.low)),
        ratio_high=float(np.exp(step.high)),
        why=why,
    )


def _noise(runs: list[_Run], logs: Floats) -> float:
    """Half of the interval over the blocks at one size, in the median over those of the runs."""
    own = [_interval(logs[k]) for run in runs for k in range(run.first, run.last + 1)]
    return float(np.median([(interval.high - interval.low) / 2 for interval in own]))


def _why(step: Interval, noise: float, limit: float) -> str:
    """What is in the way of a rise; nothing where there is none in the way."""
    if not np.isfinite(step.low):
        return f"{step.n} blocks are too few for an interval"
    if step.high <= limit:
        return "the time stays or falls"
    if step.low <= limit or step.estimate <= noise:
        return "the noise between blocks is as large as the step"
    return ""

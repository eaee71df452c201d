"""What shows when there is nothing to see: A/A, relinked twins, the range of equal points."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite, positive_logs

SEED = 20130517
DRAWS = 10_000


class SmallestEffect(NamedTuple):
    """The smallest effect shown as real, as a log and as a ratio above 1, and what limits it."""

    log_effect: float
    ratio: float
    limit: Literal["own", "a_a", "relinked"]


def null_check(low: float, high: float) -> bool:
    """Whether the A/A interval (ratios, at the figure's simultaneous level) contains 1.

    False: on this machine equal programs differ, by up to the furthest bound, and every interval of
    the figure is too narrow by as much.
    Error: a sound machine fails with the probability that the level leaves, 5 % over a figure.
    """
    if math.isnan(low) or math.isnan(high) or low > high:
        raise BenchbookError(f"The A/A interval {low} to {high} is none; run the A/A test.")
    return low <= 1 <= high


def smallest_effect(
    own_half_width: float,
    a_a_half_width: float | None,
    relinked_low: float | None,
    relinked_high: float | None,
) -> SmallestEffect:
    """The largest of own half-width, A/A half-width, and the relinked interval's furthest bound.

    Half-widths in logs, the relinked interval in ratios. A twin that was not measured (None) is
    not zero: nothing is shown as real without it, and the effect is infinite. Error: that of
    the intervals put in.
    """
    relinked = math.inf
    if relinked_low is not None and relinked_high is not None:
        if not 0 <= relinked_low <= relinked_high:
            raise BenchbookError(
                f"The relinked interval {relinked_low} to {relinked_high} is none; measure it."
            )
        low = abs(math.log(relinked_low)) if relinked_low > 0 else math.inf
        relinked = max(low, abs(math.log(relinked_high)) if relinked_high > 0 else math.inf)
    limits: dict[Literal["own", "a_a", "relinked"], float] = {
        "own": own_half_width,
        "a_a": math.inf if a_a_half_width is None else a_a_half_width,
        "relinked": relinked,
    }
    if any(math.isnan(width) or width < 0 for width in limits.values()):
        raise BenchbookError("A half-width is NaN or negative; find the failed point it came from.")
    limit = max(limits, key=lambda name: limits[name])
    effect = limits[limit]
    return SmallestEffect(effect, math.exp(effect) if effect < 700 else math.inf, limit)


def range_statistic(values: ArrayLike) -> float:
    """(max - min) / max of values (k,) above zero. Error: it grows with k; see `range_null`."""
    logs = positive_logs(values, "Range of points")
    return float(-np.expm1(logs.min() - logs.max()))


def range_null(
    points: int, log_sd: float, blocks: int = 1, draws: int = DRAWS, seed: int = SEED
) -> Floats:
    """(max - min) / max of `points` medians over `blocks`, all of equal truth: (draws,), rising.

    `log_sd` is the spread of one point's value from invocation to invocation, in logs, taken as
    normal. Error: quantiles at share q vary by sqrt(q (1 - q) / draws) in q, 0.2 percentage
    points at 95 % and 10,000 draws; heavy tails are not in it, nor what points of a block have in
    common: take `log_sd` of distances from each block's mean.
    """
    if points < 2 or blocks < 1 or draws < 1:
        raise BenchbookError(f"{points} points, {blocks} blocks and {draws} draws have no range.")
    if not 0 <= log_sd < math.inf:
        raise BenchbookError(f"The spread {log_sd} must be a number from 0 on.")
    random = np.random.default_rng(seed)
    return _ranges(
        np.median(random.standard_normal((size, points, blocks)) * log_sd, axis=2)
        for size in _portions(draws, points * blocks)
    )


def share_at_least(null: ArrayLike, observed: float) -> float:
    """The share of the null distribution at or above the observed value, one more of both counted.

    Error: sqrt(p (1 - p) / draws); never 0, as a simulation cannot show that.
    """
    draws = finite(null, "Null distribution")
    return float(((draws >= observed).sum() + 1) / (draws.size + 1))


def _portions(draws: int, numbers: int) -> list[int]:
    """Sizes that add to `draws`, so that one portion holds some 4 million numbers at most."""
    size = max(1, 4_000_000 // numbers)
    return [min(size, draws - start) for start in range(0, draws, size)]


def _ranges(portions: Iterable[Floats]) -> Floats:
    """The sorted range statistics of portions of log values (size, points)."""
    ranges = [-np.expm1(logs.min(axis=1) - logs.max(axis=1)) for logs in portions]
    return np.sort(np.concatenate(ranges))

"""Verdicts by the interval rule, and the price of an inconclusive one."""

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Literal

from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import finite, probability
from benchbook.stats.intervals import adjusted_level, least_blocks, signed_rank_interval

Verdict = Literal["reproduced", "not_reproduced", "inconclusive"]

LEAST_TO_JUDGE = 4


def _region(low: float | None, high: float | None) -> tuple[float, float]:
    """The region with open ends as infinities; an error if it is empty or holds everything."""
    bottom, top = -math.inf if low is None else low, math.inf if high is None else high
    if math.isnan(bottom) or math.isnan(top) or bottom > top:
        raise BenchbookError(f"The region {low} to {high} is empty; put the lower bound first.")
    if bottom == -math.inf and top == math.inf:
        raise BenchbookError("The region has no bound, so every value holds; declare one.")
    return bottom, top


def decide(
    interval_low: float, interval_high: float, region_low: float | None, region_high: float | None
) -> Verdict:
    """Interval inside the region: reproduced; apart: not reproduced; else inconclusive.

    All four in one unit; bounds belong to interval and region; None is no bound. Equivalence is a
    region 1 - margin to 1 + margin. Error: with a simultaneous interval a wrong verdict of either
    kind happens for at most 1 - level of the figures.
    """
    bottom, top = _region(region_low, region_high)
    if math.isnan(interval_low) or math.isnan(interval_high) or interval_low > interval_high:
        raise BenchbookError(
            f"The interval {interval_low} to {interval_high} is none; measure first."
        )
    if bottom <= interval_low and interval_high <= top:
        return "reproduced"
    if interval_high < bottom or interval_low > top:
        return "not_reproduced"
    return "inconclusive"


def decide_all(verdicts: Iterable[Verdict]) -> Verdict:
    """A claim about every one of several: not reproduced by one, reproduced by all alone.

    Error: as `decide`, if the intervals hold simultaneously.
    """
    answers = set(verdicts)
    if not answers:
        raise BenchbookError("A claim about several comparisons has none; name them in its select.")
    if "not_reproduced" in answers:
        return "not_reproduced"
    return "reproduced" if answers == {"reproduced"} else "inconclusive"


def settling_margin(value: float, bounds: Iterable[float]) -> float:
    """How far an estimate is from the nearest bound of a region, 0 on it; all on the scale on which
    noise adds, such as logs of ratios."""
    finite = [bound for bound in bounds if math.isfinite(bound)]
    if not math.isfinite(value):
        raise BenchbookError(f"The estimate {value} has no distance from a bound; measure first.")
    if not finite:
        raise BenchbookError("The region has no bound; declare one.")
    return min(abs(value - bound) for bound in finite)


def blocks_to_settle(
    log_ratios: ArrayLike,
    margin: float,
    claims: int = 1,
    level: float = 0.95,
    power: float = 0.8,
) -> int | None:
    """Blocks (even) at which a new run is likely (`power`) to end with a verdict; None if unknown.

    `log_ratios` (blocks,) of the inconclusive run, `margin` as `settling_margin` gives it. The
    interval's half-width is taken to shrink as 1 / sqrt(blocks), with room for the estimate to
    fall short: (z_level + z_power)^2 instead of z_level^2. None below 4 blocks or with no margin
    (the estimate is on the bound: no number settles it).

    Error: an order of magnitude. The spread of 8 blocks is known to a quarter, so blocks to a
    half, and the margin moves with the estimate. Simulated from 8 blocks at power 0.8: a verdict
    followed in 94 % where the truth was the region's centre, in 58 % where it lay halfway to the
    bound.
    """
    values = finite(log_ratios, "Log ratios")
    probability(power, "The power")
    if math.isnan(margin) or margin < 0:
        raise BenchbookError(f"The margin is {margin}; it is a distance in logs, from 0 on.")
    least = least_blocks(claims, level)
    n = values.size
    if n < LEAST_TO_JUDGE or margin == 0:
        return None
    # With few blocks the exact interval at the asked level is infinite: take the widest finite one.
    interval = signed_rank_interval(values, min(adjusted_level(claims, level), 1 - 2.0 ** (1 - n)))
    half_width = (interval.high - interval.low) / 2
    normal = NormalDist()
    spread = half_width * math.sqrt(n) / normal.inv_cdf((1 + interval.attained) / 2)
    reach = normal.inv_cdf((1 + adjusted_level(claims, level)) / 2) + normal.inv_cdf(power)
    blocks = (spread * reach / margin) ** 2
    return max(least, 2 * math.ceil(blocks / 2))

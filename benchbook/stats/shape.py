"""The shape of a set of samples: how many modes, whether its tail is heavy, its quantiles."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite

LEAST_VALUES = 20
LEAST_MASS = 0.1
VALLEY_DEPTH = 0.5
NARROWING = 0.7
NOISE = 2.0
FAR_OUT = 3.0
LEAST_FAR = 2
LEAST_FAR_SHARE = 0.005
LEAST_IN_GROUPS, LEAST_GROUP = 8, 3
LEAST_GAP, GAP_TO_WIDTH = 1.1, 2.0
QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


@dataclass(frozen=True)
class Shape:
    """Modes and tail are None where there are too few values to tell.

    `far_bound`: what lies above it is far out; infinite where too few values tell.
    """

    n: int
    modes: int | None
    heavy_tail: bool | None
    valleys: tuple[float, ...]
    quantiles: dict[float, float]
    far_bound: float = np.inf


def _bandwidth(values: Floats, resolution: float) -> float:
    """0.7 of Silverman's rule (which smooths modes away), and at least the clock's resolution."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread = float(values.std(ddof=1))
    if high > low:
        spread = min(spread, float(high - low) / 1.349)
    return float(max(NARROWING * 0.9 * spread * len(values) ** -0.2, resolution))


def _valleys(values: Floats, bandwidth: float) -> list[float]:
    """Where the density has a valley with enough of the values on each side, rising."""
    step = bandwidth / 4
    cells = int(min((values[-1] - values[0]) / step + 1, 20_000)) + 25
    grid = np.linspace(values[0] - 3 * bandwidth, values[-1] + 3 * bandwidth, cells)
    counts, _ = np.histogram(values, bins=cells - 1, range=(grid[0], grid[-1]))
    centres = (grid[1:] + grid[:-1]) / 2
    width = centres[1] - centres[0]
    reach = int(np.ceil(5 * bandwidth / width))
    offsets = np.arange(-reach, reach + 1) * width
    kernel = [NormalDist(0, bandwidth).pdf(offset) for offset in offsets]
    density = np.convolve(counts, kernel)[reach:-reach]
    mass = np.cumsum(counts) / len(values)
    inner = density[1:-1]
    minima = 1 + np.flatnonzero((inner < density[:-2]) & (inner <= density[2:]))
    kept: list[int] = []
    for i in sorted(minima.tolist(), key=lambda i: density[i]):
        left = max((k for k in kept if k < i), default=0)
        right = min((k for k in kept if k > i), default=len(density) - 1)
        lower_peak = min(density[left : i + 1].max(), density[i : right + 1].max())
        # Standard error of peak less valley: a kernel density counts n * 2 sqrt(pi) * bandwidth.
        noise = np.sqrt((lower_peak + density[i]) / (2 * np.sqrt(np.pi) * bandwidth))
        below = mass[i] - (mass[left] if left else 0.0)
        above = (mass[right] if right < len(density) - 1 else 1.0) - mass[i]
        deep = density[i] <= min(VALLEY_DEPTH * lower_peak, lower_peak - NOISE * noise)
        if deep and min(below, above) >= LEAST_MASS:
            kept.append(i)
    return [float(centres[i]) for i in sorted(kept)]


def _far_bound(values: Floats, resolution: float) -> float:
    """Three quartile ranges (of at least the resolution) above the upper quartile (Tukey)."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread = max(float(high - low), resolution)
    enough = len(values) >= LEAST_VALUES and spread > 0
    return float(high + FAR_OUT * spread) if enough else np.inf


def parts(values: ArrayLike, valleys: tuple[float, ...]) -> list[tuple[float, float]]:
    """Values (n,) split at the valleys -> median and share of each part, rising.

    Error: a value of one mode that strayed over the valley counts for the other.
    """
    ordered = np.sort(finite(values, "Parts"))
    pieces = np.split(ordered, np.searchsorted(ordered, valleys))
    return [(float(np.median(piece)), len(piece) / len(ordered)) for piece in pieces if len(piece)]


def shape(values: ArrayLike, resolution: float = 0.0) -> Shape:
    """Values (n,) in any unit -> modes, heavy upper tail, quantiles in that unit.

    Modes: a Gaussian kernel density (0.7 of Silverman's bandwidth, at least `resolution`, the
    clock's step) has a valley no higher than half its lower peak, deeper by two standard errors,
    with a tenth of the values at least on each side. Heavy tail: at least 2 values, and 0.5 % of
    them, lie over 3 quartile ranges (of at least `resolution`) above the upper quartile; with
    several modes this is asked of the highest one alone. Below 20 values neither is told. Quantiles
    interpolate between neighbours.

    Source: Silverman, "Density Estimation"; Tukey, "Exploratory Data Analysis" (far out values).
    Error, simulated, at 20 / 50 / 200 / 1000 values. More than one mode seen in one: normal and
    lognormal(0.05) 0.2 %, uniform 0.5 / 1.7 / 0.1 / 0 %, lognormal(1) and exponential at most
    1.1 %; autocorrelated by 0.9, up to 3 %, by 0.97, up to 8 %. Two modes seen in two, 8 standard
    deviations apart: 88 / 100 / 100 / 100 %, a fifth of the values in one 32 / 87 / 100 / 100 %;
    at 4 deviations, 4 / 33 / 84 / 100 %. A heavy tail seen in normal, uniform or lognormal(0.05):
    0.1 % at most; in 1 % delays of 100 times 2 / 8 / 59 / 98 %, in 5 % delays of 4 times 25 / 68
    / 100 / 100 %.
    """
    if resolution < 0:
        raise BenchbookError(f"The resolution is {resolution}; it cannot be negative.")
    ordered = np.sort(finite(values, "Shape"))
    points = np.quantile(ordered, QUANTILES)
    quantiles = {q: float(value) for q, value in zip(QUANTILES, points, strict=True)}
    n = len(ordered)
    if n < LEAST_VALUES:
        return Shape(n, None, None, (), quantiles)
    bandwidth = _bandwidth(ordered, resolution)
    valleys = _valleys(ordered, bandwidth) if bandwidth > 0 else []
    top = ordered[ordered > valleys[-1]] if valleys else ordered
    bound = _far_bound(top, resolution)
    far = int((top > bound).sum())
    heavy = far >= LEAST_FAR and far >= LEAST_FAR_SHARE * len(top)
    return Shape(n, len(valleys) + 1, heavy, tuple(valleys), quantiles, bound)


def two_groups(values: ArrayLike) -> tuple[Floats, Floats] | None:
    """The values (n,), all above 0, cut into two groups that lie clearly apart, each rising; None
    where there are none.

    Clearly: at least 3 values each, the gap at least 10 %, and twice as wide, in logs, as either
    group. For one value per run, of which there are few; fewer than 8 are not looked at.

    Error, simulated, at 8 / 10 / 12 / 20 values. Two groups seen where there is one: normal 0.5 /
    0.1 / 0 / 0 %, uniform 2 / 0.7 / 0.2 / 0 %, exponential 1.3 / 0.4 / 0.2 / 0 %. Found, a factor
    of 1.9 at a spread of 5 %, two in five in the upper group: 63 / 80 / 90 / 91 %; a factor of 1.3
    seldom.
    """
    ordered = np.sort(finite(values, "Values in groups"))
    n = len(ordered)
    if n < LEAST_IN_GROUPS or ordered[0] <= 0:
        return None
    logs = np.log(ordered)
    cut = max(range(LEAST_GROUP, n - LEAST_GROUP + 1), key=lambda i: logs[i] - logs[i - 1])
    gap = logs[cut] - logs[cut - 1]
    widest = max(logs[cut - 1] - logs[0], logs[-1] - logs[cut])
    if gap < math.log(LEAST_GAP) or gap < GAP_TO_WIDTH * widest:
        return None
    return ordered[:cut], ordered[cut:]

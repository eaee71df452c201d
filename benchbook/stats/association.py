"""Whether values go with something else that was seen of the same starts: exact by permutation."""

import cmath
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite, positive_logs

SEED = 19470101
FIRST_DRAWS = 1000
DRAWS = 100_000
NO_MORE = 20  # orders that reach it: more draws would not make the share small
PORTION = 2_000_000  # numbers held at once


class Association(NamedTuple):
    """The feature that goes with the values best, how well (0 to 1), and how rare that is.

    direction: of a plain feature the sign with which the values follow it, of a circular one 0.
    """

    name: str
    strength: float
    share: float
    direction: int


def ranked(values: ArrayLike) -> NDArray[np.complex128]:
    """A feature that the values may rise or fall with: its ranks."""
    return _ranks(finite(values, "A feature")).astype(complex)


def circular(values: ArrayLike, period: float) -> NDArray[np.complex128]:
    """A feature without beginning or end, like an address in its page: points on a circle."""
    if not period > 0:
        raise BenchbookError(f"The period {period} must be above zero.")
    return np.exp(2j * cmath.pi * finite(values, "A feature") / period)


def draws_for(chance: float) -> int:
    """How many draws can show a share of `chance`: five times as many as it takes at least, or
    where that is over 100,000, as many as it takes (then none may reach what was seen)."""
    return math.ceil(max(FIRST_DRAWS, min(5 / chance, DRAWS), 1 / chance))


def odds(share: float) -> str:
    """`20,000` of 0.00005: once in so many times, with one digit and rounded down."""
    times = 1 / share
    unit = 10.0 ** math.floor(math.log10(times))
    return f"{math.floor(times / unit + 1e-9) * unit:,.0f}"


def association(
    features: Mapping[str, NDArray[np.complex128]],
    values: ArrayLike,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Association | None:
    """Features (n,) from `ranked` or `circular`, values (n,) -> the one that goes with them best.

    The statistic is the squared correlation with a feature, for a circular one with its first
    harmonic, of the values' ranks (an odd one counts little) or of the values (a few that are far
    off count much), of both and of several features the largest; `share` is that of the orders of
    the values in which it is as large, the seen one counted. None where no feature varies, or the
    values do not. Source: the circular-linear correlation of Mardia, "Statistics of Directional
    Data"; permutation as Pitman, "Significance tests which may be applied to samples from any
    populations".

    Error: exact whatever the distribution, and for several features together, as long as the
    values could have come in any order; `share` varies by sqrt(share (1 - share) / draws) and is
    1 / (draws + 1) at least. A large share is found out with fewer draws. A feature that acts at
    one of many places only (one line of a page) is not seen. Simulated, a share of 0.001 is reached
    at 12 / 24 / 48 values, where the feature moves them by two standard deviations from end to end,
    1 / 18 / 66 % (one of three circular features 2 / 12 / 66 %), by four 22 / 89 / 100 % (11 / 74 /
    100 %).
    """
    numbers = finite(values, "Values")
    n = len(numbers)
    kept = {name: part - part.mean() for name, part in features.items()}
    if any(len(part) != n for part in kept.values()):
        raise BenchbookError("A feature and its values differ in number; give one for each.")
    lengths = {name: float(np.linalg.norm(part)) for name, part in kept.items()}
    kept = {name: part for name, part in kept.items() if lengths[name] > 1e-9 * math.sqrt(n)}
    if not kept or np.ptp(numbers) == 0:
        return None
    scores = np.array([_unit(_ranks(numbers)), _unit(numbers)])
    matrix = np.array([part / lengths[name] for name, part in kept.items()])
    projections = scores @ matrix.T
    seen = (np.abs(projections) ** 2).max(axis=0)
    best = int(np.argmax(seen))
    largest = float(seen[best])
    random = np.random.default_rng(seed)
    reached = total = 0
    while total < draws and reached < NO_MORE:
        more = min(draws, max(FIRST_DRAWS, 10 * total)) - total
        reached += _reached(matrix, scores, largest, more, random)
        total += more
    name = list(kept)[best]
    plain = not np.abs(kept[name].imag).any()
    direction = int(np.sign(projections[0, best].real)) if plain else 0
    return Association(name, min(largest, 1.0), (reached + 1) / (total + 1), direction)


def _ranks(values: Floats) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    return pd.Series(values).rank().to_numpy(np.float64)


def _unit(values: Floats) -> Floats:
    centred = values - values.mean()
    return centred / np.linalg.norm(centred)


def _reached(
    matrix: NDArray[np.complex128],
    scores: Floats,
    largest: float,
    draws: int,
    random: np.random.Generator,
) -> int:
    """In how many of the drawn orders some feature goes with the values as well as was seen."""
    reached, n = 0, scores.shape[1]
    for begin in range(0, draws, max(1, PORTION // n)):
        count = min(draws - begin, max(1, PORTION // n))
        orders = random.permuted(np.tile(np.arange(n), (count, 1)), axis=1)
        highest = (np.abs(scores[:, orders] @ matrix.T) ** 2).max(axis=(0, 2))
        reached += int((highest >= largest * (1 - 1e-9)).sum())
    return reached


def quarters_ratio(feature: NDArray[np.complex128], values: ArrayLike) -> float:
    """Values above zero (n,), 4 at least: the median of the quarter that the feature puts highest
    ÷ that of the quarter that it puts lowest.

    The feature is projected on the direction in which it goes with the ranks of the values. Error:
    that of two medians; it is above 1 by chance, so use it after a test.
    """
    logs = positive_logs(values, "Values")
    ranks = _ranks(logs)
    centred = feature - feature.mean()
    along = np.conj(centred @ (ranks - ranks.mean())) * centred
    order = np.argsort(along.real, kind="stable")
    part = max(1, len(order) // 4)
    low, high = logs[order[:part]], logs[order[len(order) - part :]]
    return float(np.exp(np.median(high) - np.median(low)))

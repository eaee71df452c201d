"""How many leading samples of an invocation are not yet steady."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchbook.stats.checks import Floats, positive_logs

Counts = NDArray[np.int64]
LEAST_SAMPLES = 10
PENALTY = 4.0
LEAST_SPREAD = 0.001
START_CLIP = 12.0
CLIP = 3.0
AGREEING = 0.7


def _steady(logs: Floats) -> tuple[float, float, float]:
    """Centre, spread and lag-one correlation of the second half, which is the likely steady one."""
    tail = logs[len(logs) // 2 :]
    centre = float(np.median(tail))
    # A median deviation of few samples is often far too small: 1.8 times wider at 5, 1.2 at 20.
    spread = float(np.median(np.abs(tail - centre))) * 1.4826 * (1 + 4 / len(tail))
    spread = max(spread, LEAST_SPREAD)
    clipped = np.clip(tail - centre, -CLIP * spread, CLIP * spread)
    clipped = clipped - clipped.mean()
    power = float(clipped @ clipped)
    correlation = float(clipped[1:] @ clipped[:-1]) / power if power > 0 else 0.0
    # From few samples the estimate is too low by about (1 + 4 r) / n (Kendall).
    correlation += (1 + 4 * max(correlation, 0.0)) / len(tail)
    return centre, spread, min(max(correlation, 0.0), 0.95)


def _mean_variance(correlation: float, most: int) -> Floats:
    """Variance of the mean of 1 .. most unit samples of a first-order autoregression."""
    k = np.arange(1, most + 1)
    r = correlation
    return (1 + 2 * r / (1 - r) * (1 - (1 - r**k) / (k * (1 - r)))) / k


def _first_change(
    logs: Floats, steady: Floats, most: int, spread: float, correlation: float
) -> int:
    """The best k in 1 .. most for a mean of its own of the first k logs; 0 if none is worth it."""
    n = len(logs)
    k = np.arange(1, most + 1)
    variance = _mean_variance(correlation, n)
    first = np.cumsum(logs)[:most] / k
    rest = (steady.sum() - np.cumsum(steady)[:most]) / (n - k)
    gain = (first - rest) ** 2 / (spread**2 * (variance[:most] + variance[n - 1 - k]))
    worth = np.flatnonzero(gain > PENALTY * np.log(n))
    if not len(worth):
        return 0
    worth = worth[np.argsort(-gain[worth], kind="stable")]
    middle = (first[worth] + rest[worth]) / 2
    # Counted for each k alone, a run of 10^7 samples took 180 s of CPU; this way it takes 13.
    values, ranks = np.unique(logs[:most], return_inverse=True)
    above = _counts(ranks, worth + 1, np.searchsorted(values, middle, "right"))
    below = worth + 1 - _counts(ranks, worth + 1, np.searchsorted(values, middle, "left"))
    agreeing = np.where(first[worth] > rest[worth], above, below) / (worth + 1)
    (best,) = np.nonzero(agreeing >= AGREEING)
    return int(worth[best[0]]) + 1 if len(best) else 0


def _counts(ranks: Counts, lengths: Counts, least: Counts) -> Counts:
    """How many of the first lengths[i] ranks are at least least[i], for each i.

    A wavelet matrix: one stable partition of all ranks for each of their bits, so that time grows
    with n log(n). Source: Claude, Navarro and Ordonez, "The wavelet matrix".
    """
    low, high = np.zeros_like(lengths), lengths.copy()
    counts = np.zeros_like(lengths)
    for bit in reversed(range(int(max(ranks.max(), least.max(initial=0))).bit_length())):
        ones = (ranks >> bit & 1).astype(bool)
        zeros_before = np.concatenate([[0], np.cumsum(~ones)])
        low_zeros, high_zeros = zeros_before[low], zeros_before[high]
        goes_on = (least >> bit & 1).astype(bool)
        # Where the bit of `least` is 0, a rank that has it is larger, whatever follows.
        counts += np.where(goes_on, 0, (high - low) - (high_zeros - low_zeros))
        low = np.where(goes_on, zeros_before[-1] + low - low_zeros, low_zeros)
        high = np.where(goes_on, zeros_before[-1] + high - high_zeros, high_zeros)
        ranks = np.concatenate([ranks[~ones], ranks[ones]])
    return counts + high - low


def warm_up_length(times: ArrayLike) -> int | None:
    """Times (n,) of one invocation in any unit -> leading samples that are not steady, at most n/2.

    Least squares with a penalty: the first k logs get a mean of their own where that gains more
    than 4 log(n) noise variances, again and again on what is left, so that a ramp is followed.
    The noise is that of the second half, with its autocorrelation; seven tenths of the k must lie
    on the far side of the middle between both means, so that one late delay is no warm-up. None
    below 10 samples: it cannot be told. A flip of the machine's state in the first half looks
    the same: ask `state_of` first.

    Source: the mean-shift cost of Killick, Fearnhead and Eckley, "Optimal Detection of
    Changepoints With a Linear Computational Cost", one change at a time.
    Error, simulated, at 10 / 15 / 30 / 100 samples. Warm-up seen in steady samples: 8 / 2 / 1 /
    0 % independent, 18 / 11 / 6 / 2 % at a lag-one correlation of 0.7; judge by the median over
    invocations. Found to the sample: a first one 7 times slower 93 / 97 / 99 / 100 %, a first
    fifth 20 % slower at a spread of 3 % 81 / 91 / 99 / 100 %, 10 % slower 37 / 41 / 73 / 88 %. A
    drift by three spreads from end to end counts as warm-up in 20 to 45 %, by 500 samples always.
    """
    logs = positive_logs(times, "Warm-up length")
    n = len(logs)
    if n < LEAST_SAMPLES:
        return None
    centre, spread, correlation = _steady(logs)
    # A delay counts in full at the start, where it may be the warm-up, and little after it.
    logs = np.clip(logs, centre - START_CLIP * spread, centre + START_CLIP * spread)
    steady = np.clip(logs, centre - CLIP * spread, centre + CLIP * spread)
    done = 0
    while done < n // 2:
        step = _first_change(logs[done:], steady[done:], n // 2 - done, spread, correlation)
        if step == 0:
            break
        done += step
    return done

"""The machine's states, from readings of anchor and probe alone, never from the samples."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite, need_columns, positive_logs

MOST_STATES = 3
MOST_PARTS = 6
LEAST_READINGS = 12
LEAST_SHARE = 0.1
LEAST_CLUSTER = 3
LEAST_STEP = math.log(1.1)
LEAST_SPREADS = 4.0
VALLEY_SHARE = 0.1

MIXED = "mixed"


def _partitions(logs: Floats, least: int, most: int) -> Iterator[list[Floats]]:
    """Sorted logs in 2, 3, .. `most` parts of `least` at least, each with the least squares."""
    n = len(logs)
    centred = logs - logs.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    ends = np.arange(n + 1)
    # gain[j]: the largest sum, over parts of the first j logs, of (sum of part)^2 / size of part.
    gain = np.full(n + 1, -math.inf)
    gain[least:] = sums[least:] ** 2 / ends[least:]
    cuts: list[NDArray[np.int64]] = []
    for parts in range(2, most + 1):
        longer, cut = np.full(n + 1, -math.inf), np.zeros(n + 1, dtype=np.int64)
        for end in range(parts * least, n + 1):
            starts = ends[(parts - 1) * least : end - least + 1]
            total = gain[starts] + (sums[end] - sums[starts]) ** 2 / (end - starts)
            best = int(np.argmax(total))
            longer[end], cut[end] = total[best], starts[best]
        if longer[n] == -math.inf:
            return
        gain = longer
        cuts.append(cut)
        bounds = [n]
        for earlier in reversed(cuts):
            bounds.append(int(earlier[bounds[-1]]))
        yield np.split(logs, sorted(bounds[1:]))


def _step(low: Floats, high: Floats) -> float:
    """The distance between two clusters of sorted logs, or 0 unless they are clearly apart."""
    bottom, top = float(np.median(low)), float(np.median(high))
    distance = top - bottom
    # Few readings show too small a spread by chance; this makes three of them look 1.7 times wider.
    spread = max(
        float(part.std(ddof=1) * math.sqrt(len(part) / (len(part) - 2))) for part in (low, high)
    )
    if distance < LEAST_STEP or distance < LEAST_SPREADS * spread:
        return 0.0
    between = (low > bottom + distance / 3).sum() + (high < top - distance / 3).sum()
    return 0.0 if between > VALLEY_SHARE * min(len(low), len(high)) else distance


def levels(logs: Floats) -> list[Floats]:
    """Sorted logs (n,) cut at clear steps only into one to three parts, rising.

    Among the least-squares partitions into 2 to 6, the one with most parts whose steps are all
    clear; the smallest steps of more than three are closed again.
    """
    ordered = np.sort(logs)
    groups = [ordered]
    if len(ordered) < LEAST_READINGS:
        return groups
    least = max(LEAST_CLUSTER, math.ceil(LEAST_SHARE * len(ordered)))
    for parts in _partitions(ordered, least, MOST_PARTS):
        if all(_step(low, high) > 0 for low, high in pairwise(parts)):
            groups = parts
    while len(groups) > MOST_STATES:
        steps = [float(np.median(high) - np.median(low)) for low, high in pairwise(groups)]
        i = int(np.argmin(steps))
        groups[i : i + 2] = [np.concatenate(groups[i : i + 2])]
    return groups


def assign_states(readings: pd.DataFrame, prefer: Sequence[str] = ("anchor",)) -> pd.DataFrame:
    """[t_ns, name, value] -> [t_ns, name, value, state], state 1 (the lowest values) to at most 3.

    The logs of each kind of reading (name) are cut into parts by least squares (`levels`).
    Two parts are states only if they are clearly apart, else an ordinary spread would be cut in
    halves: medians 10 % apart at least (one thread varies by 3 to 5 % on a quiet machine) and four
    times the larger standard deviation (a normal spread cut in two reaches 2.7, a uniform one
    3.5), at most a tenth as many readings in the middle third as in the smaller part, and in each
    part 3 readings and 10 % of all. One name decides: the first of `prefer` that begins the name
    of one with states, else the one with the widest step; only its readings come back. With no
    such name every reading is in state 1.

    Source: least squares in one dimension (Fisher, "On Grouping for Maximum Homogeneity").
    Error, simulated, at 12 / 24 / 50 readings of one name. Two states seen where there is one:
    normal 1 / 0 / 0 %, uniform 3 / 1 / 0.2 %, exponential 2 / 0.5 / 0 %, and 12 % where one
    reading in twenty is delayed 2.7 times. Missed, a step of 1.6 at a spread of 5 %: 9 / 1 / 0 %
    if each state holds half the time, 59 / 16 / 5 % if one holds a fifth; at a spread of 10 %,
    two in three. A state in under a tenth of the readings is never found. Many names, many
    chances: the false rate is per name.
    """
    need_columns(readings, ("t_ns", "name", "value"), "Readings of the machine's state")
    if readings.empty:
        raise BenchbookError("There are no readings of the machine's state; run anchor and probe.")
    logs = positive_logs(readings["value"], "Readings of the machine's state")
    finite(readings["t_ns"], "Times of the readings")
    names = readings["name"].to_numpy()
    candidates = []
    for name in sorted(set(names)):
        parts = levels(logs[names == name])
        if len(parts) > 1:
            rank = next((i for i, p in enumerate(prefer) if str(name).startswith(p)), len(prefer))
            step = max(float(np.median(b) - np.median(a)) for a, b in pairwise(parts))
            candidates.append((rank, -step, name, [part[0] for part in parts[1:]]))
    columns = readings[["t_ns", "name", "value"]]
    if not candidates:
        table = columns.assign(state=1)
    else:
        _, _, name, bounds = min(candidates)
        chosen = names == name
        table = columns[chosen].assign(
            state=1 + np.searchsorted(bounds, logs[chosen], side="right")
        )
    return table.sort_values("t_ns", kind="stable").reset_index(drop=True)


def state_of(
    intervals: pd.DataFrame, states: pd.DataFrame, reach_ns: float = math.inf
) -> pd.Series:
    """[t_start_ns, t_end_ns] and `assign_states`' table -> "1", "2", "3" or "mixed", per interval.

    A state where the last reading before, the first one after and all within agree; "mixed" where
    they differ, or one side has no reading within `reach_ns`. Error: two flips between two
    readings are not seen; with a stay of d in each state and readings g apart, in about
    (g / d)**2 / 2 of the intervals.
    """
    need_columns(intervals, ("t_start_ns", "t_end_ns"), "Intervals")
    need_columns(states, ("t_ns", "state"), "States")
    if intervals.empty or states.empty:
        return pd.Series(MIXED, index=intervals.index, dtype=object, name="state")
    start = finite(intervals["t_start_ns"], "Starts")
    end = finite(intervals["t_end_ns"], "Ends")
    if (end < start).any():
        raise BenchbookError("An interval ends before it starts; its clock is not monotonic.")
    ordered = states.sort_values("t_ns", kind="stable")
    times = finite(ordered["t_ns"], "Times of the readings")
    numbers = ordered["state"].to_numpy(dtype=np.int64)
    before = np.searchsorted(times, start, side="right") - 1
    after = np.searchsorted(times, end, side="left")
    inside = (before >= 0) & (after < len(times))
    first, last = np.maximum(before, 0), np.minimum(after, len(times) - 1)
    inside &= (start - times[first] <= reach_ns) & (times[last] - end <= reach_ns)
    changes = np.concatenate([[0], np.cumsum(np.diff(numbers) != 0)])
    agree = inside & (changes[last] == changes[first])
    labels = np.where(agree, numbers[first].astype(str), MIXED)
    return pd.Series(labels, index=intervals.index, dtype=object, name="state")

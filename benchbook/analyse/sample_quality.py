"""What the samples inside the starts of one point tell: their warm-up, their shape, their clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook import stats
from benchbook.stats.checks import Floats

WARM_UP = (
    "warm_up_samples",
    "unsteady_samples",
    "unsteady_starts_share",
    "warm_up_factor",
    "median_over_steady",
    "unsteady_over_steady",
    "first_over_steady",
)
SHAPE = (
    "shape_samples",
    "modes",
    "mode_centres",
    "mode_shares",
    "mode_changes",
    "heavy_tail",
    "tail_share",
    "tail_time_share",
    "tail_starts_share",
    "mean_over_median",
    "mean_over_median_but_worst",
    "p99_over_median",
    "best_over_median",
)
CLOCK = (
    "sample_ns",
    "longest_sample_ns",
    "clock_step_ns",
    "distinct_times",
    "times_coincide",
    "zero_share",
    "negative_samples",
    "backward_starts",
)
UNTOLD: dict[str, Any] = dict.fromkeys((*WARM_UP, *SHAPE, *CLOCK))


class Start(NamedTuple):
    """The samples of one start (of one process) in order; the first `marked` are warm-ups."""

    times: Floats
    marked: int
    steady_from: int | None  # None: too few samples, or not all above zero

    @property
    def kept(self) -> Floats:
        """Samples without the marked warm-ups."""
        return self.times[self.marked :]

    @property
    def unsteady(self) -> Floats:
        """Samples of `kept` before the steady ones."""
        return self.kept[: len(self.kept) - len(self.steady)]

    @property
    def steady(self) -> Floats:
        """Samples of `kept` from the first steady one on."""
        return self.times[max(self.marked, self.steady_from or 0) :]


def steadiness(calls: pd.DataFrame) -> dict[str, Any]:
    """One point's samples [block, invocation, sample, warm_up, time_ns] -> what they tell.

    With a column `process`, each process of an invocation counts as an invocation. time_ns is per
    call; with `loops` it is brought back to what the clock gave. None stands where too few samples
    tell, or where a time is not above zero and would have to be.

    Warm-up, medians over invocations: warm_up_samples (leading ones that are not steady, the marked
    warm-ups among them), unsteady_samples (without the marked), warm_up_factor (mean of all but the
    marked ÷ mean of the steady), median_over_steady (the same of medians), unsteady_over_steady
    (median of the unsteady ÷ that of the steady; 1 without any), first_over_steady (the first that
    is not marked ÷ median of the steady). unsteady_starts_share: of the invocations.

    Shape of the steady samples, each divided by its invocation's median, so that differences
    between invocations do not count: shape_samples (how many), modes, mode_centres, mode_shares,
    mode_changes (how often neighbours differ in theirs ÷ how often in random order), heavy_tail,
    mean_over_median, mean_over_median_but_worst (without the invocation whose mean is highest,
    where there are several), p99_over_median; of what is far out (stats.shape) tail_share (of the
    samples), tail_time_share, tail_starts_share (of the invocations that have one).
    best_over_median: of all but the marked, median over invocations.

    Clock, of all but the marked: sample_ns (a sample with its loops, median), longest_sample_ns,
    clock_step_ns, distinct_times, times_coincide (stats.ticks), zero_share, negative_samples. With
    t_start_ns: backward_starts, the samples that began before the one before them.
    """
    keys = ["block", "invocation", *(["process"] if "process" in calls else [])]
    ordered = calls.sort_values([*keys, "sample"], kind="stable")
    starts = [start for start in _starts(ordered, keys) if len(start.kept)]
    if not starts:
        return UNTOLD
    clock = _clock(ordered, keys)
    return UNTOLD | clock | _warm_up(starts) | _shape(starts, _resolution(clock))


def _starts(ordered: pd.DataFrame, keys: list[str]) -> Iterator[Start]:
    """The starts of samples that are ordered by the `keys` of their start."""
    begins = np.flatnonzero(_begins(ordered, keys)) + 1
    columns = ordered["time_ns"].to_numpy(dtype=float), ordered["warm_up"].to_numpy(dtype=bool)
    for times, marked in zip(*(np.split(column, begins) for column in columns), strict=True):
        length = stats.warm_up_length(times) if (times > 0).all() else None
        yield Start(times, int(marked.sum()), length)


def _begins(ordered: pd.DataFrame, keys: list[str]) -> NDArray[np.bool_]:
    """Whether each sample but the first begins another start."""
    of_start = ordered[keys].to_numpy()
    begins: NDArray[np.bool_] = (of_start[1:] != of_start[:-1]).any(axis=1)
    return begins


def _clock(ordered: pd.DataFrame, keys: list[str]) -> dict[str, Any]:
    kept = ordered[~ordered["warm_up"].astype(bool)]
    loops = kept["loops"].to_numpy(dtype=float) if "loops" in kept else 1.0
    raw = np.rint(kept["time_ns"].to_numpy(dtype=float) * loops)
    ticks = stats.ticks(raw)
    clock = {
        "sample_ns": float(np.median(raw)),
        "longest_sample_ns": float(raw.max()),
        "clock_step_ns": ticks.step,
        "distinct_times": ticks.distinct,
        "times_coincide": ticks.coincide,
        "zero_share": float((raw == 0).mean()),
        "negative_samples": int((raw < 0).sum()),
    }
    if "t_start_ns" in ordered:
        goes_back = np.diff(ordered["t_start_ns"].to_numpy()) < 0
        clock["backward_starts"] = int((goes_back & ~_begins(ordered, keys)).sum())
    return clock


def _resolution(clock: dict[str, Any]) -> float:
    """The clock's tick in medians, so that a coarse clock's few values are no modes."""
    is_coarse = clock["times_coincide"] and clock["clock_step_ns"] and clock["sample_ns"] > 0
    return clock["clock_step_ns"] / clock["sample_ns"] if is_coarse else 0.0


def _warm_up(starts: Sequence[Start]) -> dict[str, Any]:
    settled = [start for start in starts if start.steady_from is not None]
    if not settled:
        return {}
    unsteady = [len(start.unsteady) for start in settled]
    with_both = [start for start in settled if len(start.steady)]
    return {
        "warm_up_samples": median(start.steady_from or 0 for start in settled),
        "unsteady_samples": median(unsteady),
        "unsteady_starts_share": sum(count > 0 for count in unsteady) / len(settled),
        "warm_up_factor": _median(start.kept.mean() / start.steady.mean() for start in with_both),
        "median_over_steady": _median(
            np.median(start.kept) / np.median(start.steady) for start in with_both
        ),
        "unsteady_over_steady": _median(
            np.median(start.unsteady) / np.median(start.steady) if len(start.unsteady) else 1.0
            for start in with_both
        ),
        "first_over_steady": _median(
            start.kept[0] / np.median(start.steady) for start in with_both
        ),
    }


def _shape(starts: Sequence[Start], resolution: float) -> dict[str, Any]:
    relative = [
        start.steady / np.median(start.steady) for start in starts if _divides(start.steady)
    ]
    if not relative or len(relative) < len(starts):
        return {}
    values = np.concatenate(relative)
    shape = stats.shape(values, resolution)
    table: dict[str, Any] = {
        "shape_samples": shape.n,
        "modes": shape.modes,
        "heavy_tail": shape.heavy_tail,
        "best_over_median": _median(start.kept.min() / np.median(start.kept) for start in starts),
    }
    if shape.modes is None:
        return table
    split = stats.parts(values, shape.valleys)
    far = values > shape.far_bound
    return table | {
        "mode_centres": [centre for centre, _ in split],
        "mode_shares": [share for _, share in split],
        "mode_changes": _changes(relative, shape.valleys, [share for _, share in split]),
        "tail_share": float(far.mean()),
        "tail_time_share": float(values[far].sum() / values.sum()),
        "tail_starts_share": sum(bool((times > shape.far_bound).any()) for times in relative)
        / len(relative),
        "mean_over_median": float(values.mean() / np.median(values)),
        "mean_over_median_but_worst": float(_but_worst(relative).mean() / np.median(values)),
        "p99_over_median": shape.quantiles[0.99] / shape.quantiles[0.5],
    }


def _changes(starts: list[Floats], valleys: Sequence[float], shares: list[float]) -> float | None:
    """How often neighbours are of different modes ÷ how often they would be in random order."""
    groups = [np.digitize(start, valleys) for start in starts]
    pairs = sum(len(group) - 1 for group in groups)
    expected = pairs * (1 - sum(share**2 for share in shares))
    changes = sum(int((group[1:] != group[:-1]).sum()) for group in groups)
    return changes / expected if expected > 0 else None


def _but_worst(relative: list[Floats]) -> Floats:
    worst = max(range(len(relative)), key=lambda index: float(relative[index].mean()))
    others = [times for index, times in enumerate(relative) if index != worst]
    return np.concatenate(others or relative)


def _divides(times: Floats) -> bool:
    return len(times) > 0 and bool(times.min() >= 0) and float(np.median(times)) > 0


def _median(values: Any) -> float | None:
    numbers = list(values)
    return float(np.median(numbers)) if numbers else None

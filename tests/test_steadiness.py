"""Warm-up and shape of the samples inside a start, on samples made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchbook.steadiness import steadiness


def calls(times: np.ndarray, marked: int = 2) -> pd.DataFrame:
    """(invocations, samples) of times as a table; the first `marked` samples are warm-ups."""
    return pd.DataFrame(
        [
            {"block": b, "invocation": 0, "sample": s, "warm_up": s < marked, "time_ns": time}
            for b, row in enumerate(times)
            for s, time in enumerate(row)
        ]
    )


def steady(seed: int = 3) -> np.ndarray:
    # Starts differ by tens of per cent, the samples inside one by 2 %.
    dice = np.random.default_rng(seed)
    return 1000 * dice.uniform(0.7, 1.4, (8, 1)) * dice.normal(1, 0.02, (8, 30))


def test_steady_samples_have_no_warm_up_and_one_mode() -> None:
    found = steadiness(calls(steady()))
    assert found == {"warm_up_samples": 0, "modes": 1, "heavy_tail": False}


def test_slow_first_samples_are_counted() -> None:
    times = steady()
    times[:, :3] *= 4
    assert steadiness(calls(times))["warm_up_samples"] == 3


def test_two_levels_inside_a_start_are_two_modes() -> None:
    times = steady()
    times[:, 2::2] *= 2
    assert steadiness(calls(times))["modes"] == 2


def test_rare_long_delays_are_a_heavy_tail() -> None:
    times = steady()
    times[::2, 20] *= 50
    assert steadiness(calls(times))["heavy_tail"] is True


def test_too_few_samples_tell_nothing() -> None:
    found = steadiness(calls(steady()[:2, :5]))
    assert found == {"warm_up_samples": None, "modes": None, "heavy_tail": None}

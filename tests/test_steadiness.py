"""Warm-up and shape of the samples inside a start, on samples made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchbook.analyse.sample_quality import UNTOLD, steadiness


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
    assert (found["warm_up_samples"], found["unsteady_samples"]) == (0, 0)
    assert (found["modes"], found["heavy_tail"]) == (1, False)
    assert found["mean_over_median"] == pytest.approx(1, abs=0.01)


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


def test_too_few_samples_tell_nothing_of_warm_up_and_shape() -> None:
    found = steadiness(calls(steady()[:2, :5]))
    told = {name for name, value in found.items() if value is not None}
    assert not told & {"warm_up_samples", "modes", "heavy_tail", "mean_over_median"}
    assert found["shape_samples"] == 6
    assert set(found) == set(UNTOLD)


def test_the_keys_are_always_the_same() -> None:
    only_warm_ups = calls(steady()[:, :2])
    assert steadiness(only_warm_ups) == UNTOLD
    assert set(steadiness(calls(steady()))) == set(UNTOLD)


def test_warm_up_factor_is_of_means_and_leaves_out_the_marked() -> None:
    times = steady()
    times[:, :2] *= 100  # the marked ones
    times[:, 2:9] *= 4
    found = steadiness(calls(times))
    assert found["unsteady_samples"] == 7
    assert found["warm_up_factor"] == pytest.approx((7 * 4 + 21) / 28, rel=0.02)
    assert found["first_over_steady"] == pytest.approx(4, rel=0.05)
    assert found["median_over_steady"] == pytest.approx(1, abs=0.02)


def test_groups_come_with_centre_and_share() -> None:
    times = steady()
    times[:, 2::2] *= 2
    found = steadiness(calls(times))
    low, high = found["mode_centres"]
    assert high / low == pytest.approx(2, rel=0.02)
    assert found["mode_shares"] == [0.5, 0.5]


def test_intervals_are_brought_back_to_what_the_clock_gave() -> None:
    ticks = np.random.default_rng(0).integers(3, 6, (4, 40)) * 1000
    found = steadiness(calls(ticks / 8).assign(loops=8))
    assert (found["clock_step_ns"], found["sample_ns"]) == (1000, 4000)
    assert (found["times_coincide"], found["modes"]) == (True, 1)


def test_times_below_zero_have_no_shape_and_are_counted() -> None:
    times = steady()
    times[3, 10] = -5e6
    found = steadiness(calls(times))
    assert found["negative_samples"] == 1
    assert found["modes"] is None
    assert found["warm_up_samples"] is not None


def test_samples_that_begin_before_the_one_before_are_counted() -> None:
    table = calls(steady())
    table["t_start_ns"] = table.index * 10_000
    assert steadiness(table)["backward_starts"] == 0
    table.loc[40:44, "t_start_ns"] -= 10**9
    assert steadiness(table)["backward_starts"] == 1

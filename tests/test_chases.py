"""Levels and rises of made-up chases: planted ones are found, others are not made up."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchbook import stats
from benchbook.analyse.cache_latency import LOADS, chases
from benchbook.core.errors import BenchbookError

KIB = 1024
SIZES = [size * KIB << power for power in range(18) for size in (4, 6)]  # 4 KiB to 768 MiB
CACHES = {48 * KIB: 1.4, 2048 * KIB: 4.5, 32768 * KIB: 60.0}
MEMORY_NS = 130.0
BLOCKS = 8


def level_of(size: int) -> float:
    return next((ns for end, ns in CACHES.items() if size <= end), MEMORY_NS)


def planted(noise: float, seed: int = 1, blocks: int = BLOCKS) -> np.ndarray:
    """Times (sizes, blocks) of three caches and memory; noise of the logarithm of each."""
    dice = np.random.default_rng(seed)
    clean = np.log([level_of(size) for size in SIZES])
    table: np.ndarray = np.exp(clean[:, None] + noise * dice.standard_normal((len(SIZES), blocks)))
    return table


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("seed", range(5))
def test_planted_levels_and_their_ends_are_found(noise: float, seed: int) -> None:
    found = stats.levels(SIZES, planted(noise, seed))
    assert [plateau.time for plateau in found.plateaus] == pytest.approx(
        [1.4, 4.5, 60, 130], rel=0.05
    )
    assert all(plateau.time_low <= plateau.time <= plateau.time_high for plateau in found.plateaus)
    ends = [(rise.low, rise.high) for rise in found.rises]
    wanted = [(48 * KIB, 64 * KIB), (2048 * KIB, 3072 * KIB), (32768 * KIB, 49152 * KIB)]
    assert ends == wanted
    assert all(rise.told and rise.settled and rise.why == "" for rise in found.rises)
    ratios = [4.5 / 1.4, 60 / 4.5, 130 / 60]
    assert [rise.ratio for rise in found.rises] == pytest.approx(ratios, rel=0.1)


def test_the_order_of_measuring_does_not_matter() -> None:
    times = planted(0.03)
    order = np.random.default_rng(7).permutation(len(SIZES))
    assert stats.levels(np.array(SIZES)[order], times[order]) == stats.levels(SIZES, times)


def test_another_unit_changes_no_end() -> None:
    times = planted(0.03)
    ns, ps = stats.levels(SIZES, times), stats.levels(SIZES, 1000 * times)
    assert [rise[:4] for rise in ns.rises] == [rise[:4] for rise in ps.rises]


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
def test_a_flat_sweep_has_no_rise(noise: float) -> None:
    dice = np.random.default_rng(3)
    times = 5 * np.exp(noise * dice.standard_normal((len(SIZES), BLOCKS)))
    found = stats.levels(SIZES, times)
    assert len(found.plateaus) == 1
    assert (found.plateaus[0].low, found.plateaus[0].high) == (SIZES[0], SIZES[-1])
    assert found.rises == []


def test_noise_above_the_step_tells_none_but_for_the_share_that_intervals_err() -> None:
    """A step of 1.3 below noise of a factor of e: a rise would be one in noise alone."""
    clean = np.log([5.0 if size < 1 << 20 else 6.5 for size in SIZES])
    told = 0
    for seed in range(200):
        noise = np.random.default_rng(seed).standard_normal((len(SIZES), BLOCKS))
        found = stats.levels(SIZES, np.exp(clean[:, None] + noise))
        told += any(rise.told for rise in found.rises)
        assert all(rise.why for rise in found.rises if not rise.told)
    assert told <= 0.05 * 200


def test_noise_widens_where_a_rise_begins() -> None:
    clear, noisy = (stats.levels(SIZES[:14], planted(noise, 2)[:14]) for noise in (0.0, 0.05))
    rise = [rise for rise in noisy.rises if rise.told]
    assert (clear.rises[0].low, clear.rises[0].high) == (48 * KIB, 64 * KIB)
    assert rise[0].low <= 48 * KIB < 64 * KIB <= rise[0].high


def test_a_gradual_rise_is_told_without_a_level_behind_it() -> None:
    clean = [1.4] * 6 + [1.4 * 1.5**k for k in range(1, 9)]
    found = stats.levels(SIZES[:14], np.repeat(np.array(clean)[:, None], BLOCKS, axis=1))
    (rise,) = found.rises
    assert (rise.told, rise.settled) == (True, False)
    assert rise.ratio == pytest.approx(1.5**8)
    assert SIZES[6] <= rise.low < rise.high <= SIZES[13]


def test_too_few_blocks_are_named() -> None:
    found = stats.levels(SIZES, planted(0.01, blocks=4))
    assert {rise.why for rise in found.rises} == {"4 blocks are too few for an interval"}
    assert not any(rise.told for rise in found.rises)


def test_a_fall_is_no_rise() -> None:
    times = np.repeat(np.array([[5.0]] * 5 + [[2.0]] * 5), BLOCKS, axis=1)
    (rise,) = stats.levels(SIZES[:10], times).rises
    assert (rise.told, rise.why) == (False, "the time stays or falls")


def test_fewer_sizes_than_a_level_has_tell_nothing() -> None:
    assert stats.levels(SIZES[:2], planted(0.0)[:2]) == stats.Levels([], [])
    steep = np.repeat(np.array([[1.0], [2.0], [4.0], [8.0]]), BLOCKS, axis=1)
    assert stats.levels(SIZES[:4], steep) == stats.Levels([], [])


@pytest.mark.parametrize(
    ("sizes", "times", "sentence"),
    [
        ([1, 2, 3], [[1.0], [1.0]], "give a row of blocks for each"),
        ([1, 2, 0], [[1.0]] * 3, "is not above zero"),
        ([1, 2, 3], [[1.0], [0.0], [1.0]], "is not above zero"),
        ([1, 2, 3], [[1.0], [float("nan")], [1.0]], "is not above zero"),
        ([1, 2, 2], [[1.0]] * 3, "is there twice"),
        ([1, 2, 3], [[], [], []], "has no block"),
    ],
)
def test_bad_sweeps_are_errors(sizes: list[float], times: Any, sentence: str) -> None:
    with pytest.raises(BenchbookError, match=sentence):
        stats.levels(sizes, times)


def table(times: np.ndarray, loads: int, pages: str = "huge") -> tuple[list[dict], pd.DataFrame]:
    """Points and summaries of a run, as the analysis has them."""
    points, rows = [], []
    for size, row in zip(SIZES, times, strict=True):
        name = f"v,pages={pages},bytes={size},method=m"
        centre = float(np.median(row)) * loads
        points.append(
            {
                "point": name,
                "variant": "v",
                "twin": "",
                "factors": {"pages": pages, "bytes": size, "method": "m"},
                "state": "ok",
                "observations": {LOADS: loads, "anon_huge_bytes": 0, "buffers_bytes": size},
                "time_ns": centre,
                "time_low_ns": None,
                "time_high_ns": centre,
                "spread_ns": {"p10_ns": centre, "p90_ns": centre},
            }
        )
        rows += [
            {"point": name, "block": block, "median_ns": ns * loads} for block, ns in enumerate(row)
        ]
    return points, pd.DataFrame(rows)


@pytest.mark.parametrize("loads", [1, 1024])
def test_times_are_those_of_one_load(loads: int) -> None:
    points, summaries = table(planted(0.02), loads)
    (line,) = chases(points[::-1], summaries)
    assert [value["bytes"] for value in line["values"]] == SIZES
    assert line["values"][0]["time_ns"] == pytest.approx(1.4, rel=0.05)
    assert [plateau["time"] for plateau in line["plateaus"]] == pytest.approx(
        [1.4, 4.5, 60, 130], rel=0.05
    )
    assert line["values"][0]["huge_share"] == 0
    assert line["blocks"] == BLOCKS
    assert json.loads(json.dumps(line, allow_nan=False)) == line


def test_settings_are_lines_of_their_own_and_twins_are_none() -> None:
    points, summaries = table(planted(0.02), 8)
    more, others = table(planted(0.02), 8, pages="small")
    twins = [point | {"twin": "again"} for point in points]
    failed = [point | {"state": "failed"} for point in points]
    copies = [point | {"observations": {}} for point in points]
    found = chases([*points, *more[:20], *twins, *failed, *copies], pd.concat([summaries, others]))
    assert [line_["factors"]["pages"] for line_ in found] == ["huge", "small"]
    assert [len(line_["values"]) for line_ in found] == [len(SIZES), 20]


def test_few_blocks_leave_no_infinity_in_the_file() -> None:
    points, summaries = table(planted(0.02, blocks=3), 8)
    (line,) = chases(points, summaries)
    assert line["rises"][0]["ratio_high"] is None
    assert line["rises"][0]["told"] is False
    json.dumps(line, allow_nan=False)


def test_blocks_that_lack_a_size_are_left_out() -> None:
    points, summaries = table(planted(0.02), 8)
    (line,) = chases(points, summaries.drop(index=[0, 9]))
    assert line["blocks"] == BLOCKS - 2
    (line,) = chases(points, summaries[summaries["point"] != points[3]["point"]])
    assert (line["blocks"], line["plateaus"]) == (0, [])


def test_nothing_measured_is_no_chase() -> None:
    assert chases([], pd.DataFrame(columns=["point", "block", "median_ns"])) == []

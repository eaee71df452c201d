"""Machines with other numbers of CPUs than the one at hand: more processes than CPUs, each timed at
its own pace, and processes that have a CPU each or are timed as one."""

import random
from typing import Any

from benchbook.controls.replays import Scene

BYTES, BLOCKS = 2 * 2**20, 6
CPUS = (1, 2, 4, 6, 8, 16, 64, 128)


def scenes(seed: int) -> list[Scene]:
    """Turns within samples and between them, with two and with many for each CPU; then those that
    stand in nobody's way."""
    dice = random.Random(seed)
    cpus = dice.choice(CPUS)
    several = max(cpus, 2)
    return [
        _scene(dice, True, cpus, times=2, overlap=dice.uniform(0.3, 0.6), within=1.0),
        _scene(dice, True, cpus, times=4, overlap=dice.uniform(0.05, 0.3), within=1.3),
        _scene(dice, True, cpus, times=8, overlap=dice.uniform(0.85, 0.98), within=6.0),
        _scene(dice, True, cpus, times=2, overlap=dice.uniform(0.9, 0.99), within=1.8),
        _scene(dice, False, several, times=1, overlap=dice.uniform(0.9, 0.99), within=1.02),
        _scene(dice, False, several, times=1, overlap=dice.uniform(0.3, 0.6), within=1.5),
        _scene(dice, False, 2 * several, times=0.5, overlap=0.97, within=1.01),
        _scene(dice, False, cpus, times=4, overlap=0.5, within=1.5, skew_ns=dice.uniform(50, 5e5)),
    ]


def _scene(
    dice: random.Random,
    provoked: bool,
    cpus: int,
    *,
    times: float,
    overlap: float,
    within: float,
    skew_ns: float | None = None,
) -> Scene:
    """within: mean ÷ median of the samples; skew: of processes that began each sample together."""
    processes = round(times * cpus)
    point: dict[str, Any] = {
        "where": "copy",
        "processes": processes,
        "bytes_per_call": float(BYTES * processes),
        "time_ns": BYTES / 10,
        "overlap_fraction": overlap,
    }
    if skew_ns is not None:
        point["start_skew_ns"] = skew_ns
    starts = []
    for block in range(BLOCKS):
        usual = BYTES / 10 * dice.uniform(0.98, 1.02)
        starts.append(
            {
                "where": "copy",
                "block": block,
                "median_ns": usual,
                "mean_ns": usual * within * dice.uniform(0.98, 1.02),
                "cpus_given": cpus,
                "t_start_ns": block * 10**9,
            }
        )
    return Scene(provoked=provoked, points=[point], starts=starts)

"""Pairs of points that change places with the statistic, and pairs that do not."""

from __future__ import annotations

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 60
SPREAD = 0.02
SLOWER = 1.4  # the slower samples of the uneven point
SHARE = 0.7
BETWEEN = (1.12, 1.2, 1.28)  # the even point: between the uneven one's best and median
APART = (1.0, 1.02, 1.3)  # two even points


def scenes(seed: int) -> list[Scene]:
    """An even point against an uneven one, and against another even one."""
    dice = np.random.default_rng(seed)
    return [
        *(_scene(_even(dice) * between, _uneven(dice), True) for between in BETWEEN),
        *(_scene(_even(dice), _even(dice) * apart, False) for apart in APART),
    ]


def _even(dice: np.random.Generator) -> np.ndarray:
    return 30_000 * dice.lognormal(0, SPREAD, (BLOCKS, SAMPLES))


def _uneven(dice: np.random.Generator) -> np.ndarray:
    slower = dice.random((BLOCKS, SAMPLES)) < SHARE
    return _even(dice) * np.where(slower, SLOWER, 1.0)


def _scene(first: np.ndarray, other: np.ndarray, provoked: bool) -> Scene:
    times = {"one": np.rint(first).astype(np.int64), "other": np.rint(other).astype(np.int64)}
    return Scene(
        provoked=provoked,
        points=[{"where": name} for name in times],
        samples=made_samples(times, declared_bytes=4096),
    )

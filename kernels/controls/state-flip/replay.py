"""A machine that flips between two states: samples that follow it, and samples that do not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchbook.controls.replays import SAMPLE_COLUMNS, Scene

START_NS, CALL_NS, SAMPLES, READINGS = 40_000_000, 50_000.0, 9, 3
KINDS = ("followed", "not followed", "one state")


def scenes(seed: int) -> list[Scene]:
    """One of each kind: the first is provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    points, blocks = int(dice.integers(2, 5)), int(dice.integers(28, 41))
    names = [f"p{number}" for number in range(points)]
    level = dice.uniform(1.3, 2.5)  # of the anchor, slow state ÷ fast one
    effects = {name: dice.uniform(1.2, 2.0) for name in names}
    noise = dice.uniform(0.01, 0.04)
    slow = _states(dice, blocks * points) & (kind != "one state")
    wander = _wander(dice, blocks * points, noise)
    samples, readings = [], []
    for at, (block, name) in enumerate(
        (b, n) for b in range(blocks) for n in dice.permutation(names)
    ):
        t_ns = at * START_NS
        for reading in range(READINGS):
            value = 1e6 * (level if slow[at] else 1.0) * np.exp(0.02 * dice.standard_normal())
            readings.append({"t_ns": t_ns + reading * 100_000, "name": "anchor", "value": value})
        own = {"followed": slow[at], "not followed": False, "one state": dice.random() < 0.3}[kind]
        median = CALL_NS * (effects[name] if own else 1.0) * np.exp(wander[at])
        for sample in range(SAMPLES):
            time = median * np.exp(noise * dice.standard_normal())
            begin = t_ns + 5_000_000 + sample * 100_000
            samples.append((name, block, at, sample, False, begin, time, 65536))
    readings += [reading | {"t_ns": reading["t_ns"] + START_NS} for reading in readings[-READINGS:]]
    return Scene(
        provoked=kind == "followed",
        points=[{"where": name, "bytes": 65536} for name in names],
        samples=pd.DataFrame(samples, columns=SAMPLE_COLUMNS),
        readings=readings,
    )


def _states(dice: np.random.Generator, count: int) -> np.ndarray:
    """Stays of some starts in each state, both of them often enough to be told."""
    while True:
        flips = dice.random(count) < dice.uniform(0.05, 0.3)
        slow = np.cumsum(flips) % 2 == 1
        if 0.25 < slow.mean() < 0.75:
            return slow


def _wander(dice: np.random.Generator, count: int, noise: float) -> np.ndarray:
    """Noise that remembers: what a machine does besides."""
    found = np.zeros(count)
    for at in range(1, count):
        found[at] = 0.5 * found[at - 1] + noise * dice.standard_normal()
    return found

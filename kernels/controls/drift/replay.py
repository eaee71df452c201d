"""Points measured one after the other or in turn, on machines that change with time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchbook.controls.replays import SAMPLE_COLUMNS, Scene

START_NS, CALL_NS, SAMPLES, ANCHOR_EVERY = 40_000_000, 50_000.0, 9, 2
COURSES = ("even", "heat", "load")


def scenes(seed: int) -> list[Scene]:
    """Serial and changing (provoked); in turn and changing; serial and unchanging."""
    dice = np.random.default_rng(seed)
    return [
        _scene(dice, serial=True, changing=True),
        _scene(dice, serial=False, changing=True),
        _scene(dice, serial=True, changing=False),
    ]


def _scene(dice: np.random.Generator, *, serial: bool, changing: bool) -> Scene:
    points, blocks = int(dice.integers(2, 7)), int(dice.integers(8, 17))
    names = [f"p{number}" for number in range(points)]
    levels = {name: CALL_NS * dice.uniform(0.5, 2) for name in names}
    speed = _course(dice, points * blocks) if changing else np.ones(points * blocks)
    noise = dice.uniform(0.003, 0.01)
    in_turn = [(block, name) for block in range(blocks) for name in dice.permutation(names)]
    order = [(block, name) for name in names for block in range(blocks)] if serial else in_turn
    samples, readings = [], []
    for at, (block, name) in enumerate(order):
        if at % ANCHOR_EVERY == 0:
            value = 1e6 * speed[at] * np.exp(noise * dice.standard_normal())
            readings.append({"t_ns": at * START_NS, "name": "anchor", "value": value})
        median = levels[name] * speed[at] * np.exp(noise * dice.standard_normal())
        for sample in range(SAMPLES):
            time = median * np.exp(noise * dice.standard_normal())
            begin = at * START_NS + 5_000_000 + sample * 100_000
            samples.append((name, block, at, sample, False, begin, time, 65536))
    return Scene(
        provoked=serial and changing,
        points=[{"where": name, "bytes": 65536} for name in names],
        samples=pd.DataFrame(samples, columns=SAMPLE_COLUMNS),
        readings=readings,
    )


def _course(dice: np.random.Generator, count: int) -> np.ndarray:
    """How much longer everything takes, from start to start: up or down, evenly, levelling off, or
    by a load that grows in steps."""
    share, most = np.linspace(0, 1, count), dice.uniform(0.25, 0.9)
    course = {
        "even": share,
        "heat": 1 - np.exp(-4 * share),
        "load": np.floor(share * 3.999) / 3,
    }[COURSES[dice.integers(len(COURSES))]]
    return np.exp(most * (course if dice.random() < 0.5 else 1 - course))

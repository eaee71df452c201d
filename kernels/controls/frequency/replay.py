"""A clock that moves: times that go with it, and times that do not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchbook.controls.replays import SAMPLE_COLUMNS, Scene

START_NS, CALL_NS, SAMPLES = 40_000_000, 50_000.0, 9
KINDS = ("followed", "not followed", "steady")
COURSES = ("ramp", "heat", "governor")


def scenes(seed: int) -> list[Scene]:
    """One of each kind: the first is provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    points, blocks = int(dice.integers(1, 5)), int(dice.integers(16, 31))
    names = [f"p{number}" for number in range(points)]
    course = COURSES[dice.integers(len(COURSES))]
    khz = _clock(dice, "steady" if kind == "steady" else course, blocks * points)
    bound = dice.uniform(0.6, 1.0) if kind == "followed" else 0.0  # by the clock, not by memory
    noise = dice.uniform(0.003, 0.01)
    samples, starts = [], []
    for at, (block, name) in enumerate(
        (b, n) for b in range(blocks) for n in dice.permutation(names)
    ):
        slower = bound * khz.max() / khz[at] + 1 - bound
        drift = 1 + 0.1 * at / (blocks * points) if kind == "steady" else 1.0
        median = CALL_NS * slower * drift * np.exp(noise * dice.standard_normal())
        starts.append({"where": name, "block": block, "frequency_khz": int(khz[at])})
        for sample in range(SAMPLES):
            time = median * np.exp(noise * dice.standard_normal())
            begin = at * START_NS + sample * 100_000
            samples.append((name, block, at, sample, False, begin, time, 65536))
    return Scene(
        provoked=kind == "followed",
        points=[{"where": name, "bytes": 65536} for name in names],
        samples=pd.DataFrame(samples, columns=SAMPLE_COLUMNS),
        starts=starts,
    )


def _clock(dice: np.random.Generator, course: str, count: int) -> np.ndarray:
    """kHz at each start."""
    top, low = dice.uniform(3.0e6, 4.5e6), dice.uniform(0.7, 0.88)
    share = np.linspace(0, 1, count)
    khz = {
        "steady": np.full(count, 1.0),
        "ramp": low + (1 - low) * np.minimum(1, share / dice.uniform(0.3, 0.8)),
        "heat": 1 - (1 - low) * (1 - np.exp(-share * dice.uniform(2, 6))),
        "governor": np.where(dice.random(count) < dice.uniform(0.3, 0.7), low, 1.0),
    }[course]
    return top * khz * np.exp(0.002 * dice.standard_normal(count))

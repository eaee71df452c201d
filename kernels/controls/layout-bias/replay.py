"""Starts whose buffers and stack lie at random places: times that go with them, and times that do
not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchbook.controls.replays import Scene

START_NS, CALL_NS, PAGE_BYTES, LINE_BYTES = 40_000_000, 50_000.0, 4096, 64
KINDS = ("followed", "not followed", "slower with time")
Places = dict[str, np.ndarray]


def scenes(seed: int) -> list[Scene]:
    """One of each kind: the first is provoked."""
    return [
        _scene(np.random.default_rng([seed, number]), kind) for number, kind in enumerate(KINDS)
    ]


def _scene(dice: np.random.Generator, kind: str) -> Scene:
    points, blocks = int(dice.integers(1, 5)), int(dice.integers(30, 49))
    names = [f"p{number}" for number in range(points)]
    bends = tuple(EFFECTS.values())
    bend = bends[dice.integers(len(bends))]
    noise = dice.uniform(0.005, 0.02)
    starts: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        places = _places(dice, blocks)
        cost = dice.uniform(0.1, 0.5) * bend(places) if kind == "followed" else np.zeros(blocks)
        if kind == "slower with time":
            cost = np.linspace(0, dice.uniform(0.05, 0.3), blocks)
        times = CALL_NS * np.exp(cost + noise * dice.standard_normal(blocks))
        starts += _starts(name, number, points, times, places)
    return Scene(
        provoked=kind == "followed",
        points=[
            {"where": name, "bytes": 65536, "time_ns": CALL_NS, "bytes_per_call": 65536.0}
            for name in names
        ],
        starts=starts,
    )


def _places(dice: np.random.Generator, blocks: int) -> Places:
    lines = PAGE_BYTES // LINE_BYTES
    return {
        "environment_padding_bytes": 16 * dice.integers(0, PAGE_BYTES // 16, blocks),
        "source_address_mod_4096": LINE_BYTES * dice.integers(0, lines, blocks),
        "destination_address_mod_4096": LINE_BYTES * dice.integers(0, lines, blocks),
    }


def _around(places: np.ndarray, period: int) -> np.ndarray:
    """1 at the worst place of a circle, 0 at the opposite one."""
    return (1 + np.cos(2 * np.pi * places / period)) / 2


def _distance(places: Places) -> np.ndarray:
    ends = places["destination_address_mod_4096"] - places["source_address_mod_4096"]
    return _around(ends, PAGE_BYTES)


def _place(name: str, period: int = PAGE_BYTES) -> Callable[[Places], np.ndarray]:
    return lambda places: _around(places[name], period)


EFFECTS: dict[str, Callable[[Places], np.ndarray]] = {
    "distance": _distance,
    "source": _place("source_address_mod_4096"),
    "destination": _place("destination_address_mod_4096"),
    "stack": _place("environment_padding_bytes"),
    "stack in its line": _place("environment_padding_bytes", LINE_BYTES),
}


def _starts(
    name: str, number: int, points: int, times: np.ndarray, places: Places
) -> Iterator[dict[str, Any]]:
    for block, time in enumerate(times):
        begin = (block * points + number) * START_NS
        yield {
            "where": name,
            "block": block,
            "invocation": number,
            "t_start_ns": begin,
            "t_end_ns": begin + START_NS // 2,
            "samples": 100,
            "median_ns": float(time),
            **{column: int(values[block]) for column, values in places.items()},
        }

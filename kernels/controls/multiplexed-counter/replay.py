"""Outputs of counting tools in their true form, with and without events that took turns."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.evidence.counters import Count, likwid, perf

OUTPUTS = Path(__file__).parents[3] / "tests" / "counter_outputs"
EVENTS = (
    "instructions",
    "cycles",
    "L1-dcache-load-misses",
    "LLC-load-misses",
    "LLC-store-misses",
    "branch-misses",
    "dTLB-load-misses",
)


def scenes(seed: int) -> list[Scene]:
    """perf with turns, likwid with two groups in one start; both without."""
    dice = np.random.default_rng(seed)
    return [
        _scene(True, "perf stat", perf.parse(_perf(dice, turns=True), "perf.txt")),
        _scene(False, "perf stat", perf.parse(_perf(dice, turns=False), "perf.txt")),
        _scene(True, "likwid MEM", _likwid(dice, "likwid-two-groups.csv")),
        _scene(False, "likwid MEM", _likwid(dice, "likwid-mem-one-core.csv")),
    ]


def _perf(dice: np.random.Generator, *, turns: bool) -> str:
    """As `perf stat -j` prints it."""
    count = int(dice.integers(3, len(EVENTS) + 1))
    run_ns = int(dice.integers(10**6, 10**8))
    lines = []
    for event in dice.permutation(EVENTS)[:count]:
        running = dice.uniform(5, 99) if turns else 100.0
        line = {
            "counter-value": f"{dice.integers(10**3, 10**9)}.000000",
            "unit": "",
            "event": str(event),
            "event-runtime": int(run_ns * running / 100),
            "pcnt-running": round(float(running), 2),
        }
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


def _likwid(dice: np.random.Generator, name: str) -> list[Count]:
    """Some of what likwid printed, in another order."""
    counts = likwid.parse((OUTPUTS / name).read_text(encoding="utf-8"), name)
    kept = dice.permutation(len(counts))[: int(dice.integers(5, len(counts) + 1))]
    return [counts[index] for index in kept]


def _scene(provoked: bool, source: str, counts: list[Count]) -> Scene:
    return Scene(
        provoked=provoked,
        points=[{"where": "p0", "bytes": 65536, "time_ns": 5e4, "bytes_per_call": 65536.0}],
        evidence=[_row(source, count) for count in counts],
    )


def _row(source: str, count: Count) -> dict[str, Any]:
    """As the evidence stage writes it."""
    kept = ("name", "value", "unit", "state", "reason", "multiplexed", "running_fraction")
    told = {key: value for key, value in asdict(count).items() if key in (*kept, "run_time_s")}
    return {**told, "where": "p0", "source": source, "calls": 100}

"""Outputs of counting tools in their true form, from machines without counters and with them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.evidence.counters import Count, likwid, perf

OUTPUTS = Path(__file__).parents[3] / "tests" / "counter_outputs"
HARDWARE = (*perf.HARDWARE, "cycles", "branch-misses")
SAID = ("<not supported>", "<not counted>", "0.000000")
Row = dict[str, Any]


def scenes(seed: int) -> list[Scene]:
    """Refused, silent, zero and empty answers; a whole one of each tool."""
    dice = np.random.default_rng(seed)
    silent = ("likwid-zeros.csv", "likwid-nan.csv")[dice.integers(2)]
    return [
        _scene(True, [_denied()]),
        _scene(True, _rows("perf stat", perf.parse(_perf(dice, silent=True), "perf.txt"))),
        _scene(True, _rows("likwid MEM", likwid.parse(_text(silent), silent))),
        _scene(True, _foreign(dice)),
        _scene(False, _rows("perf stat", perf.parse(_perf(dice, silent=False), "perf.txt"))),
        _scene(False, _rows("likwid MEM", _some(dice, "likwid-mem-one-core.csv"))),
    ]


def _text(name: str) -> str:
    return (OUTPUTS / name).read_text(encoding="utf-8")


def _denied() -> Row:
    """As the evidence stage says it where perf refuses."""
    state, reason, remedy = perf.explain(_text("perf-denied.txt"))
    about = {"where": "", "name": "hardware counters", "value": None, "unit": ""}
    return {**about, "source": "perf", "state": state, "reason": reason, "remedy": remedy}


def _perf(dice: np.random.Generator, *, silent: bool) -> str:
    """As `perf stat -j` prints it; `silent`: at least one event that nothing counted."""
    count = int(dice.integers(2, len(HARDWARE) + 1))
    dead = int(dice.integers(1, count + 1)) if silent else 0
    lines = []
    for index, event in enumerate(dice.permutation(HARDWARE)[:count]):
        value = f"{dice.integers(10**3, 10**9)}.000000"
        line = {
            "counter-value": str(dice.choice(SAID)) if index < dead else value,
            "unit": "",
            "event": str(event),
            "event-runtime": 463020,
            "pcnt-running": 100.0,
        }
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


def _some(dice: np.random.Generator, name: str) -> list[Count]:
    counts = likwid.parse(_text(name), name)
    return [counts[index] for index in dice.permutation(len(counts))[: int(dice.integers(5, 60))]]


def _foreign(dice: np.random.Generator) -> list[Row]:
    """Somebody else's table, whose tool printed zeros as if they were counts."""
    count = int(dice.integers(1, 4))
    common = {"where": "p0", "unit": "", "source": "perf stat", "state": "imported", "reason": ""}
    return [
        {**common, "name": str(event), "value": 0.0, "calls": int(dice.integers(1, 1000))}
        for event in dice.permutation(HARDWARE)[:count]
    ]


def _rows(source: str, counts: list[Count]) -> list[Row]:
    """As the evidence stage writes them."""
    kept = ("name", "value", "unit", "state", "reason", "run_time_s")
    return [
        {key: value for key, value in asdict(count).items() if key in kept}
        | {"where": "p0", "source": source, "calls": 100}
        for count in counts
    ]


def _scene(provoked: bool, rows: list[Row]) -> Scene:
    return Scene(
        provoked=provoked,
        points=[{"where": "p0", "bytes": 65536, "time_ns": 5e4, "bytes_per_call": 65536.0}],
        evidence=rows,
    )

"""Points of made-up transfers for replays: what the kernel observes of each, and its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchbook.controls.replays import SAMPLE_COLUMNS, Scene

START_NS, SAMPLES = 40_000_000, 3
WAYS = {"to": (1, 0), "from": (0, 1), "both": (1, 1)}
SPEEDS = (2.5, 5.0, 8.0, 16.0, 32.0)


def point(where: str, way: str, **more: Any) -> dict[str, Any]:
    """One point that moves 64 MiB by one thread, as `more` has it otherwise; no link is known."""
    size = int(more.pop("bytes", 1 << 26))
    to_device, from_device = WAYS[way]
    return {
        "where": where,
        "bytes": size,
        "transfer_threads": 1,
        "bytes_to_device": to_device * size,
        "bytes_from_device": from_device * size,
        "orders_of_each_part": 1,
        "orders_done_fraction": 1.0,
        "data_is_zero": 0,
        "host_memory_is_pinned": 1,
        "device_is_host_memory": 0,
        "through_cuda": 0,
        "work_done_fraction": 1.0,
        **more,
    }


DEVICE, BRIDGE = "0000:41:00.0", "0000:40:01.1"


def linked(idle: tuple[float, int], load: tuple[float, int], most: tuple[float, int]) -> Any:
    """The observations of a link: 10^9 transfers per second, and lanes."""
    return {
        f"link_{when}_{what}": value
        for when, speed in (("idle", idle), ("load", load), ("most", most))
        for what, value in zip(("gt_per_s", "width"), speed, strict=True)
    }


def scene(
    dice: np.random.Generator, points: list[dict[str, Any]], times_ns: list[float], provoked: bool
) -> Scene:
    """A scene of eight to sixteen blocks of these points, with samples around these times (ns)."""
    blocks = int(dice.integers(8, 17))
    rows, at = [], 0
    for block in range(blocks):
        for index in dice.permutation(len(points)):
            moved = points[index]["bytes_to_device"] + points[index]["bytes_from_device"]
            for sample in range(SAMPLES):
                time = times_ns[index] * np.exp(0.01 * dice.standard_normal())
                begin = at * START_NS + sample * START_NS // 8
                where = points[index]["where"]
                rows.append((where, block, at, sample, False, begin, time, moved))
            at += 1
    return Scene(provoked, points, pd.DataFrame(rows, columns=SAMPLE_COLUMNS))

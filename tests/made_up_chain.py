"""A made-up block copy with planted factors, as a run would give it to benchbook.explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

KIB, MIB, GIB = 2**10, 2**20, 2**30
LLC = 32 * MIB
BLOCKS = 12
CONTENT: dict[str, Any] = {
    "base": "v",
    "buffers": 2,
    "starts": ["bytes"],
    "factors": {
        "bytes": {"unit": "bytes", "text": "size"},
        "method": {"text": "function"},
        "block_bytes": {"unit": "bytes", "text": "block"},
    },
    "definitions": {"copy": "", "block": "", "still": "", "stuck": ""},
    "names": {"copy": "whole copy", "block": "block copy", "still": "copy of one block"},
    "variants": {
        "v": {"compiler": "gcc", "flags": ["-O2"]},
        "w": {"compiler": "gcc", "flags": ["-O2"], "environment": {"WAY": "one"}},
    },
}
SIZES = {"L1d": 32 * KIB, "L2": MIB, "LLC": LLC, "total LLC": LLC, "cores": 1}
# Rates of an honest whole copy by size, bytes per second.
HONEST = {4 * KIB: 100e9, 8 * MIB: 40e9, 16 * MIB: 20e9, 64 * MIB: 10e9, 128 * MIB: 9e9}
STUCK = {"method": "stuck", "bytes": 32 * MIB, "block_bytes": 4 * KIB}
STILL = STUCK | {"method": "still"}
MOVED = STUCK | {"method": "block"}
WHOLE = {"method": "copy", "bytes": 32 * MIB}


def name_of(factors: dict[str, Any], variant: str = "v") -> str:
    """The id of a point."""
    known = [*CONTENT["factors"], "threads"]
    order = [key for key in known if key in factors]
    return ",".join([variant, *(f"{key}={factors[key]}" for key in order)])


def observed(factors: dict[str, Any]) -> dict[str, Any]:
    """What the check and the system see of a copy."""
    blocks = factors["bytes"] // factors.get("block_bytes", factors["bytes"])
    still = factors["method"] in ("still", "stuck")
    return {
        "work_done_fraction": 1 / blocks if still else 1,
        "distinct_source_blocks": 1 if still else blocks,
        "blocks_declared": blocks,
        "destination_written_fraction": 1 / blocks if factors["method"] == "stuck" else 1,
        "minor_faults": 0,
        "major_faults": 0,
        "anonymous_bytes": 2 * factors["bytes"],
        "buffers_bytes": 2 * factors["bytes"],
        "library_calls": ["mempcpy"],
        "wall_ns": 1e7,
    }


class MadeUp:
    """Points with the logs of their rates; `add` plants one."""

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []
        self.logs: dict[str, float] = {}
        self.states = ["1"] * BLOCKS
        self.noise = 0.004
        for size, rate in HONEST.items():
            self.add({"method": "copy", "bytes": size}, rate)
        self.add(WHOLE, 12e9)

    def add(self, factors: dict[str, Any], rate: float, variant: str = "v", **seen: Any) -> str:
        """Plant a point with its true rate; returns its id."""
        name = name_of(factors, variant)
        self.points.append(
            {
                "point": name,
                "variant": variant,
                "twin": "",
                "factors": factors,
                "state": "ok",
                "reason": "",
                "observations": observed(factors) | seen,
                "bytes_per_call": float(factors["bytes"]),
                "time_ns": factors["bytes"] / rate * 1e9,
                "rate_bytes_per_s": rate,
            }
        )
        self.logs[name] = float(np.log(rate))
        return name

    def analysis(self) -> dict[str, Any]:
        """What chains read of analysis.json."""
        readings = [
            {"t_ns": 0, "name": "anchor", "value": value, "state": state}
            for state, value in (("1", 100.0), ("2", 200.0))
        ]
        return {
            "points": self.points,
            "sizes": SIZES,
            "facts": {"isa": ["erms"]},
            "page_bytes": 4 * KIB,
            "caches": {"L1d": 32 * KIB, "L2": MIB, "L3": LLC},
            "readings": readings,
        }

    def summaries(self) -> pd.DataFrame:
        """One row per point and block; a block has a speed of its own."""
        dice = np.random.default_rng(7)
        common = dice.normal(0, 0.2, BLOCKS)
        rows = []
        sizes = {point["point"]: point["bytes_per_call"] for point in self.points}
        for name, log in self.logs.items():
            for block in range(BLOCKS):
                rate = np.exp(log + common[block] + dice.normal(0, self.noise))
                rows.append(
                    {
                        "point": name,
                        "block": block,
                        "median_ns": sizes[name] / rate * 1e9,
                        "bytes_declared": sizes[name],
                        "machine_state": self.states[block],
                        "disturbed": False,
                    }
                )
        return pd.DataFrame(rows)


def thresholds(**values: int) -> list[dict[str, Any]]:
    """Rows of evidence: the C library's thresholds of both variants; those given are w's."""
    usual = {
        "rep_movsb_threshold": 2 * KIB,
        "rep_movsb_stop_threshold": MIB,
        "non_temporal_threshold": GIB,
    }
    return [
        {"source": "C library", "state": "ok", "variant": variant, "value": size,
         "name": f"{name}_bytes", "point": ""}
        for variant, own in (("v", usual), ("w", usual | values))
        for name, size in own.items()
    ]  # fmt: skip

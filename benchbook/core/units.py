"""Units of published numbers. Standard library only: the checks before a run import this."""

from __future__ import annotations

import re

RATE, TIME = "rate", "time"
# What one unit of a published rate is in bytes per second, and of a published time in ns.
RATE_UNITS = {"MiB/s": 2**20, "MB/s": 10**6, "GB/s": 10**9, "GiB/s": 2**30}
TIME_UNITS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}
UNITS = RATE_UNITS | TIME_UNITS
# Estimate and ends of its interval, of a point as analysis.json carries it.
VALUES = {
    "rate": {
        "rerun": "rate_bytes_per_s",
        "low": "rate_low_bytes_per_s",
        "high": "rate_high_bytes_per_s",
    },
    "time": {"rerun": "time_ns", "low": "time_low_ns", "high": "time_high_ns"},
}


def quantity_of(unit: str) -> str:
    """`rate` or `time`; a figure without a unit of its own, such as one of ranges, is of rates."""
    return TIME if unit in TIME_UNITS else RATE


def in_names(unit: str) -> str:
    """A unit as names of columns carry it: `mib_per_s`, `us`."""
    ascii_only = unit.replace("/", " per ").replace("µ", "u")
    return re.sub(r"\W+", "_", ascii_only).strip("_").lower()

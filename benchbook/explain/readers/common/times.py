"""Times and counts as libraries of benchmarks print them: a number, and its unit or prefix."""

from __future__ import annotations

UNIT = r"(?:ps|nsecs?|ns|usecs?|us|µs|μs|msecs?|ms|seconds?|secs?|sec|s|minutes?|mins?|min|m)"
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_NAMES = {
    "nsec": "ns", "usec": "us", "µs": "us", "μs": "us", "msec": "ms", "sec": "s", "second": "s",
    "nanosecond": "ns", "microsecond": "us", "millisecond": "ms",
}  # fmt: skip
_SCALED = {"ps": (1e-3, "ns"), "m": (60.0, "s"), "min": (60.0, "s"), "minute": (60.0, "s")}
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}


def time_of(value: float, unit: str) -> tuple[float, str]:
    """A time in a unit that results have: picoseconds as ns, minutes as s."""
    bare = unit if len(unit) <= 2 else unit.removesuffix("s")
    factor, own = _SCALED.get(bare, (1.0, _NAMES.get(bare, bare)))
    # A picosecond has three digits behind the point of a nanosecond, and no others by chance.
    return (float(f"{value * factor:.12g}") if factor != 1 else value), own


def scaled(value: float, prefix: str) -> float:
    """A count with a prefix of powers of 1,000: 12.3 k is 12,300."""
    factor = _PREFIXES[prefix.replace("K", "k")]
    return float(f"{value * factor:.12g}") if factor != 1 else value

"""Units as logs print them, made explicit; what one of each is in bytes, bits, or ns."""

from __future__ import annotations

import math

from benchbook.core import units

_MOST = 1e300
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_BITS = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_BITS |= {"Kibit": 2**10, "Mibit": 2**20, "Gibit": 2**30}
_TIMES = {"us" if name == "µs" else name: size for name, size in units.TIME_UNITS.items()}
# unit -> (how many base units it is, the base unit)
BASE: dict[str, tuple[float, str]] = {
    **{name: (size, "B") for name, size in _BYTES.items()},
    **{f"{name}/s": (size, "B/s") for name, size in _BYTES.items()},
    **{name: (size, "bit") for name, size in _BITS.items()},
    **{f"{name}/s": (size, "bit/s") for name, size in _BITS.items()},
    **{name: (size, "ns") for name, size in _TIMES.items()},
}
TIMES = frozenset(unit for unit, (_, base) in BASE.items() if base == "ns")
# What one of each rate is in bytes per second: asked for very often.
_RATES = {
    unit: size / 8 if base == "bit/s" else size
    for unit, (size, base) in BASE.items()
    if base in ("B/s", "bit/s")
}


def in_base(value: float, unit: str) -> tuple[float, str]:
    """The value in B, B/s, bit, bit/s or ns; itself where the unit is another."""
    size, base = BASE.get(unit, (1, unit))
    if abs(value) > _MOST:  # a whole number that no float holds
        value = math.inf
    return value * size, base


def bytes_per_s(value: float, unit: str) -> float | None:
    """A rate in bytes per second; None where the unit is none of a rate."""
    if (size := _RATES.get(unit)) is None:
        return None
    return (value if abs(value) <= _MOST else math.inf) * size


def is_binary(unit: str) -> bool:
    """Whether it counts by powers of 2^10."""
    size = BASE.get(unit, (1, unit))[0]
    return size > 1 and int(size).bit_count() == 1

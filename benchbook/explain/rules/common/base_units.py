"""The value of a printed number in the units that all of them are compared in."""

from __future__ import annotations

from benchbook.explain.model import Result
from benchbook.explain.units import bytes_per_s, in_base


def in_base_units(result: Result) -> float:
    """Its value in B, B/s, bit, bit/s or ns; as it was printed where its unit is another."""
    return in_base(result.value, result.unit)[0]


def rate_of(result: Result) -> float | None:
    """A rate in bytes per second; None where its unit is none of a rate."""
    return bytes_per_s(result.value, result.unit)


def is_time(result: Result) -> bool:
    """Whether its unit is one of time."""
    return in_base(1.0, result.unit)[1] == "ns"

"""What printed digits allow: a printed number is an interval, and so is what follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from benchbook.audit.reasons import Reason
from benchbook.core import number_format

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


@dataclass(frozen=True)
class Interval:
    """All values that a number may have; exact fractions, so that no border moves."""

    low: Fraction
    high: Fraction

    @property
    def middle(self) -> Fraction:
        """The value between the ends."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> Fraction:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def meets(self, other: Interval) -> bool:
        """Whether both can be one value; borders belong to both."""
        return self.low <= other.high and other.low <= self.high

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: Interval) -> Interval:
        """ZeroDivisionError where the divisor may be 0."""
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("the divisor may be 0")
        return self * Interval(1 / other.high, 1 / other.low)


@dataclass(frozen=True)
class Compared:
    """A printed number against a recomputed one. `tolerance`: how far apart rounding lets the
    printed value and the middle of the recomputed interval be; `hint`: how it would fit."""

    consistent: bool
    tolerance: float
    hint: Reason | None = None


def plain(text: str) -> str | None:
    """The digits of a printed number, without the spaces or commas that group them; None where
    the text is no number."""
    joined = re.sub(r"\s", "", text)
    if _GROUPED.fullmatch(joined):
        joined = joined.replace(",", "")
    return joined if _NUMBER.fullmatch(joined) else None


def exactly(value: int | float | str | Fraction) -> Interval:
    """A value without any rounding: a count, a setting, a constant. 4.1 means 41/10."""
    number = value if isinstance(value, Fraction) else Fraction(str(value))
    return Interval(number, number)


def step_of(text: str, decimals: int | None = None) -> Fraction:
    """One unit in the last printed place; `decimals` where the source drops trailing zeros."""
    shown = len((plain(text) or "").partition(".")[2])
    return Fraction(1, 10 ** max(shown, decimals or 0))


def rounded(text: str, decimals: int | None = None) -> Interval:
    """What would be printed like this by rounding; ValueError where the text is no number."""
    number = plain(text)
    if number is None:
        raise ValueError(f"{text!r} is no number")
    value, half = Fraction(number), step_of(text, decimals) / 2
    return Interval(value - half, value + half)


def compare(
    text: str, recomputed: Interval, decimals: int | None = None, *, exact: bool = False
) -> Compared:
    """Whether a printed number can be the recomputed one, rounded; `exact`: it must be that."""
    printed = exactly(plain(text) or "") if exact else rounded(text, decimals)
    tolerance = float(f"{float(printed.half + recomputed.half):.6g}")
    if printed.meets(recomputed):
        return Compared(True, tolerance)
    return Compared(False, tolerance, _hint(text, recomputed, decimals))


def _hint(text: str, recomputed: Interval, decimals: int | None) -> Reason | None:
    """Whether digits cut off, or fewer digits than are printed, explain a difference."""
    value, step = Fraction(plain(text) or 0), step_of(text, decimals)
    away = step if value >= 0 else -step
    if Interval(min(value, value + away), max(value, value + away)).meets(recomputed):
        return Reason("cut-off")
    whole = plain(text) or ""
    zeros = len(whole) - len(whole.rstrip("0")) if "." not in whole else 0
    coarse = Fraction(10**zeros) / 2
    if value and zeros and Interval(value - coarse, value + coarse).meets(recomputed):
        return Reason("fewer-digits", {"digits": len(whole.lstrip("+-")) - zeros})
    return None


def shown(recomputed: Interval, text: str = "") -> str:
    """The recomputed value with one place more than the printed one, or what rounding allows."""
    places = len((plain(text) or "").partition(".")[2]) + 1
    low, high = float(recomputed.low), float(recomputed.high)
    allowed = number_format.places(low, high)
    if allowed is not None:
        places = min(places, max(allowed, 0))
    number = f"{float(recomputed.middle):,.{places}f}"
    return number.rstrip("0").rstrip(".") if allowed is None and "." in number else number

"""What printed numbers tell beyond their value: how they were rounded, and whether one was cut."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, TypeGuard, TypeVar

from benchbook.explain.lazy_regex import late

_DIGITS = late(r"[+-]?\d*(?:[.,](\d+))?(?:[eE]([+-]?\d+))?")


def half_digit(text: str) -> float:
    """Half of the last digit of a printed number: how far the true one may be from it."""
    whole, _, part = text.partition(".")
    if whole.isdecimal() and part.isdecimal() and len(part) < len(HALVES):
        return HALVES[len(part)]
    match = _DIGITS.fullmatch(text.strip())
    if match is None:
        return 0.0
    return _half(int(match[2] or 0) - len(match[1] or ""))


def decimals(text: str) -> int:
    """Digits behind the decimal point or comma."""
    whole, _, part = text.partition(".")
    if whole.isdecimal() and part.isdecimal():
        return len(part)
    match = _DIGITS.fullmatch(text.strip())
    return len(match[1] or "") if match else 0


MOST = 1e300  # what a float can hardly hold is no count of anything


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a finite number."""
    kind = type(value)
    if (
        kind is not float
        and kind is not int
        and (kind is bool or not isinstance(value, (int, float)))
    ):
        return False
    return abs(value) < MOST


def as_float(value: Any) -> float | None:
    """The number that a text or a value of JSON is, infinite or not; None where it is none."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (OverflowError, TypeError, ValueError):
        return None


T = TypeVar("T")


def only(values: Collection[T]) -> T | None:
    """The value, where there is one; None where there is none, or several that differ."""
    return next(iter(values)) if len(values) == 1 else None


def half_of_last_digit(value: float) -> float:
    """Half of the last printed digit, of a number whose text is gone: zeros at its end are lost,
    so that it is rather too much."""
    if not math.isfinite(value) or value == 0:
        return 0.0
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals_left = mantissa.partition(".")[2].rstrip("0")
    return _half(int(exponent or 0) - len(decimals_left))


def whole(value: float) -> int | float:
    """The nearest whole number; what is infinite or no number stays as it is."""
    return round(value) if math.isfinite(value) else value


_REMARK = late(r"(?<=[\d.])\s+(?:[\u2190\u21d0\u2b05\u2605\u2606\u26a0!#*(]|<[-=<]|//).*$")


def unremarked(text: str) -> str:
    """A row of a table without what a person wrote behind it: `<- drops here`."""
    return _REMARK.sub("", text)


_MARK = late(r"[\s]*(?:(?:#{1,3}|/{2,3}|;{1,2}|--|[%*•-])[ \t]+)?")


def unmarked(text: str) -> str:
    """A line without what a comment of a script or a list of Markdown has before it; for tools
    whose lines do not begin so themselves."""
    match = _MARK.match(text)
    return text[match.end() :].rstrip() if match else text.strip()


@lru_cache(maxsize=1024)
def _half(exponent: int) -> float:
    return 0.5 * 10.0 ** min(max(exponent, -320), 300)


# By how many digits stand behind the point: nearly all numbers are as short.
HALVES = [_half(-digits) for digits in range(20)]
_LONGEST_SNIP = 40
LONGEST = 4000  # characters; a table of 256 hardware threads has fewer


class About(int):
    """A whole number that was worked out of rounded ones, and is shown as such."""


_SNIPPED = late(
    r"[\s<>\[\](){}8-]*+(?:(?:\.{2,}+|…++|snip(?:ped)?+|cut|omitted)[\s<>\[\](){}8-]*+)++", re.I
)


def is_left_out(text: str) -> bool:
    """Whether a line stands for others that somebody left out: `...`, `[…]`, `--8<-- snip`."""
    return len(text) <= _LONGEST_SNIP and _SNIPPED.fullmatch(text) is not None

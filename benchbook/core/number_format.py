"""Numbers as a reader needs them: the digits that their interval allows, units, counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "–"
LONGEST_AT_EDGE = 9  # decimal places of a number next to a bound
FIXED = "\u00a0"  # a space at which no line is broken


def places(low: float | None, high: float | None) -> int | None:
    """Decimal places that an interval allows; None where there is no finite interval.

    One digit of the half-width, or two where it begins with 1 to 3.5.
    """
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return None
    half = (high - low) / 2
    exponent = math.floor(math.log10(half))
    return -exponent + (half / 10**exponent < 3.55)


def number(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    edges: Sequence[float] = (),
) -> str:
    """The value with the digits that its interval allows; without one, three digits.

    `edges` are the bounds that it is held against: it gets as many digits more as it takes to stay
    on its side of each.
    """
    if value is None or not math.isfinite(value):
        return NONE
    digits = places(low, high)
    if digits is None:
        digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return _rounded(value, digits, edges)


def _rounded(value: float, digits: int, edges: Sequence[float] = ()) -> str:
    digits = digits_beside(edges, value, digits)
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def digits_beside(edges: Sequence[float], value: float, digits: int) -> int:
    """So many decimal places, and as many more as it takes that rounding neither puts the value on
    one of these edges nor beyond it; LONGEST_AT_EDGE at the most."""
    for edge in edges:
        if not math.isclose(value, edge, rel_tol=1e-9):
            while (round(value, digits) > edge) != (value > edge) or (
                math.isclose(round(value, digits), edge, rel_tol=1e-12)
            ):
                if digits >= LONGEST_AT_EDGE:
                    break
                digits += 1
    return digits


def interval(low: float | None, high: float | None, *, edges: Sequence[float] = ()) -> str:
    """`8.8 to 9.7`, both ends with the same digits, and with more next to one of the `edges`; what
    is open is called so."""
    if low is None or high is None or not math.isfinite(high):
        return "no finite interval"
    digits = places(low, high)
    if digits is None:
        return f"{number(low, edges=edges)} to {number(high, edges=edges)}"
    return f"{_rounded(low, digits, edges)} to {_rounded(high, digits, edges)}"


def with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    edges: Sequence[float] = (),
) -> str:
    """A value with its interval: `9.2 (8.8 to 9.7)`; `edges` as `number` takes them."""
    if value is None or not math.isfinite(value):
        return NONE
    if low == high == value:
        return number(value, edges=edges)
    digits = places(low, high)
    if digits is not None and round(value, digits) == 0 != round(value, digits + 1):
        shown = _rounded(value, digits + 1, edges)  # a value that is not 0 is not printed as 0
    else:
        shown = number(value, low, high, edges=edges)
    return f"{shown} ({interval(low, high, edges=edges)})"


def quotient(top: str, bottom: str) -> str:
    """How many times one printed number is the other, so that whoever divides them finds it."""
    above, below = (float(text.replace(",", "")) for text in (top, bottom))
    return number(above / below) if below else NONE


def bound(value: float) -> str:
    """A bound of a region as it is declared: `0.05`, `1.094`; a root or quotient by four digits."""
    short = f"{value:.6g}"
    return f"{value:,.10g}" if math.isclose(float(short), value, rel_tol=1e-12) else f"{value:.4g}"


def printed(text: str) -> str:
    """A printed cell with thousands set apart, its digits untouched."""
    whole, point, rest = text.strip().partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdigit() else text


def count(value: float) -> str:
    """A whole number: 8,192."""
    return f"{value:,.0f}"


def share(value: float | None, edges: Sequence[float] = ()) -> str:
    """A share as per cent, never rounded to 0 or 100: `0.012 %`, `55 %`; `edges` as `number` takes
    them, as shares."""
    if value is None or not math.isfinite(value):
        return NONE
    percent = 100 * value
    decimals = 0
    rest = round(100 - percent, 9)  # 0 for what only arithmetic keeps below 100
    if 0 < rest < 1:
        decimals = min(6, -math.floor(math.log10(rest)))
    elif 0 < abs(percent) < 100:
        decimals = max(0, 1 - math.floor(math.log10(abs(percent))))
    decimals = digits_beside([100 * edge for edge in edges], percent, decimals)
    return f"{percent:.{decimals}f}{FIXED}%"


def seconds(value: float) -> str:
    """A time in seconds as text: `8.3 s`, `2 min 5 s`."""
    if value < 120:
        return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"
    return f"{value // 60:.0f} min {value % 60:.0f} s"


def duration(ns: float) -> str:
    """A time in ns as text with three digits: `310 ns`, `3.14 µs`, `15.6 ms`."""
    size = abs(ns)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if size >= 0.9995 * scale:
            return f"{number(ns / scale)} {unit}"
    return f"{number(ns)} ns" if size >= 1 or not size else f"{ns:.2g} ns"


def bit_rate(bits_per_s: float) -> str:
    """Bits per second as text with three digits: `1 Gb/s`, `100 Mb/s`."""
    for unit, scale in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits_per_s >= scale:
            return f"{bits_per_s / scale:.3g} {unit}"
    return f"{bits_per_s:.3g} b/s"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words as a list in a sentence: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def plural(amount: float, word: str, several: str | None = None) -> str:
    """`1 block`, `8 blocks`; `several` where an s does not make the plural: `2 switches`."""
    return f"{count(amount)} {word if amount == 1 else several or word + 's'}"

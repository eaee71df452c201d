"""Numbers that a log tells twice: as it prints them, and as others of the same run make them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchbook.explain.model import Twice
from benchbook.explain.printed_digits import half_digit, is_number


class Printed(NamedTuple):
    """A number by the words that stand beside it; `half` of its last digit is open."""

    name: str
    value: float
    half: float
    line: int

    @property
    def words(self) -> str:
        return f"{self.name} (line {self.line})"


def printed(name: str, value: float, text: str, line: int) -> Printed:
    """A number with what its digits leave open; counts leave nothing open."""
    return Printed(name, value, 0.0 if text.isdecimal() else half_digit(text), line)


def product(
    numbers: Mapping[str, Printed],
    said: str,
    above: Sequence[str],
    below: Sequence[str] = (),
    *,
    count: int = 1,
    scale: float = 1.0,
    unit: str = "",
) -> list[Twice]:
    """That `said` is the product of those above over those below, `count` times, and `scale` is
    that of their units; nothing where the log has not all of them, or some are 0."""
    parts = [numbers.get(one) for one in (*above, *below)]
    own = numbers.get(said)
    if own is None or not is_number(own.value):
        return []
    known = [one for one in parts if one is not None and is_number(one.value) and one.value > 0]
    if len(known) < len(parts):
        return []
    tops, bottoms = known[: len(above)], known[len(above) :]
    made = count * scale * math.prod(one.value for one in tops)
    made /= math.prod(one.value for one in bottoms)
    if not is_number(made):
        return []
    words = f"{count} times " if count > 1 else ""
    words += " times ".join(one.words for one in tops)
    if bottoms:
        words += " over " + " times ".join(one.words for one in bottoms)
    slack = own.half + made * sum(one.half / one.value for one in known)
    return [Twice(own.name, own.value, unit, own.line, made, words, slack)]

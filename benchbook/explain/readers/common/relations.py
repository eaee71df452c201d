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
        """The name, and the number of the line that has it."""
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
    own = numbers.get(said)
    parts = [numbers[name] for name in (*above, *below) if name in numbers]
    usable = all(is_number(part.value) and part.value > 0 for part in parts)
    if (
        own is None
        or not is_number(own.value)
        or len(parts) < len(above) + len(below)
        or not usable
    ):
        return []
    tops, bottoms = parts[: len(above)], parts[len(above) :]
    made = count * scale * math.prod(part.value for part in tops)
    made /= math.prod(part.value for part in bottoms)
    if not is_number(made):
        return []
    words = f"{count} times " if count > 1 else ""
    words += " times ".join(part.words for part in tops)
    if bottoms:
        words += " over " + " times ".join(part.words for part in bottoms)
    slack = own.half + made * sum(part.half / part.value for part in parts)
    return [Twice(own.name, own.value, unit, own.line, made, words, slack)]

"""Whether a text writes 1,5 or 1.5, and what a number of it is."""

from __future__ import annotations

import re
from collections import Counter

from benchbook.explain.lazy_regex import late

_LOOKED_AT = 1 << 20  # characters
_WRITTEN = late(r"[\d.,]+")
NUMBER = r"[\d.,]*\d(?:[eE][+-]?\d+)?"  # of others' patterns
FIGURE = late(NUMBER)
# Without either of these nothing below is written with decimal commas.
_COMMA, _TWO_POINTS = late(r",\d"), late(r"\.\d{3}\.\d{3}")
_COMMAS = late(r"0,\d+|\d+,(?:\d{1,2}|\d{4,9})|\d{4,},\d{3}|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_POINTS = late(r"0\.\d+|\d+\.(?:\d{1,2}|\d{4,9})|\d{4,}\.\d{3}|\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?")
_BOTH_COMMA = late(r"\d{1,3}(?:\.\d{3})+,\d+")
_BOTH_POINT = late(r"\d{1,3}(?:,\d{3})+\.\d+")
_GROUPS = late(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_GROUPS_BY_POINTS = late(r"[+-]?\d{1,3}(?:\.\d{3}){2,}|[+-]?\d{1,3}(?:\.\d{3})+,\d+")


def has_decimal_commas(text: str) -> bool:
    """Whether its numbers are rather written with decimal commas; not where nothing tells."""
    if "," not in text or not any(
        pattern.search(text, 0, _LOOKED_AT) for pattern in (_COMMA, _TWO_POINTS)
    ):
        return False
    # All that is written in digits, points and commas, each once: logs say the same over and over.
    written = Counter(_WRITTEN.findall(text, 0, _LOOKED_AT))
    commas = _counted(written, ",", ".", (_COMMAS, _BOTH_COMMA))
    return commas > 0 and commas > _counted(written, ".", ",", (_POINTS, _BOTH_POINT))


def _counted(
    written: Counter[str], decimal: str, group: str, patterns: tuple[re.Pattern[str], ...]
) -> int:
    """How many are written so, by each of the patterns."""
    may_be = [text for text in written if decimal in text or text.count(group) > 1]
    return sum(written[text] for text in may_be for pattern in patterns if pattern.fullmatch(text))


def number(text: str, *, decimal_comma: bool) -> float | None:
    """The number that is written there; None where it is none, or one that may mean two."""
    try:
        if "_" not in text:
            return float(text)  # what has one point or none means the same everywhere
    except ValueError:
        pass
    plain = text.strip().replace("\u00a0", "").replace("'", "").replace("’", "")
    if "_" in plain:
        return None
    if decimal_comma:
        if _GROUPS_BY_POINTS.fullmatch(plain):
            plain = plain.replace(".", "")
        plain = plain.replace(",", ".")
    elif _GROUPS.fullmatch(plain):
        plain = plain.replace(",", "")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return None

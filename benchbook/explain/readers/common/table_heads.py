"""Heads of tables, whosesoever they are: what follows one is no row of the table before it."""

from __future__ import annotations

import re

from benchbook.explain.lazy_regex import late

_UNIT = late(
    r"\b[KMG]i?B(?:ytes)?/s|GBPS|\[(?:usec|us|ns|ms|s)\]|#bytes|"
    r"\((?:us|ns|ms|s|usec|sec|Bytes|GFLOPS|GIOPS)\)",
    re.I,
)
_LONGEST = 300  # characters
_DIGIT = late(r"\d")


def is_head(text: str) -> bool:
    """Whether a line names units and has no number."""
    return len(text) <= _LONGEST and not _DIGIT.search(text) and bool(_UNIT.search(text))

"""Pairs of points that do the same work, and what their times in the same blocks say.

Rows are those of `artefacts.Seen.points`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchbook.detect import Row, Seen
from benchbook.detect.inputs.timed_work import number_of


def twins(
    rows: Sequence[Row], every: Iterable[Row], same: Iterable[str]
) -> Iterator[tuple[Row, Row]]:
    """Each of these rows with each row outside of them whose columns `same` hold the same."""
    own = {row["where"] for row in rows}
    outside = [row for row in every if row["where"] not in own]
    for row in rows:
        for twin in outside:
            if all(number_of(row, name) == number_of(twin, name) for name in same):
                yield row, twin


def surely_longer(seen: Seen, pairs: Iterable[tuple[Row, Row]]) -> list[float]:
    """Times of the first of a pair ÷ times of the second, where each block says longer; sorted."""
    from benchbook.stats.ratios import time_ratio  # slow to load, and logs have no blocks

    ratios = [time_ratio(seen.starts, first["where"], second["where"]) for first, second in pairs]
    return sorted(ratio.estimate for ratio in ratios if ratio and ratio.is_always_beyond())

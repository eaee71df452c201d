"""Pairs of points that do the same work, and what their times in the same blocks say.

Rows are those of `artefacts.Seen.points`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchbook.detect import Row, Seen
from benchbook.detect.inputs.timed_work import number_of

if TYPE_CHECKING:
    from benchbook.stats.ratios import Ratio


def groups(
    rows: Iterable[Row], traits: Iterable[str], trait: Callable[[Row, str], Any], by: str
) -> list[list[Row]]:
    """The rows that have all of these traits in common, ordered by the column `by`."""
    names = list(traits)
    by_traits: dict[str, list[Row]] = {}
    for row in rows:
        by_traits.setdefault(repr([trait(row, name) for name in names]), []).append(row)
    return [sorted(group, key=lambda row: float(row[by])) for group in by_traits.values()]


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
    return sorted(ratio.estimate for ratio in ratios(seen, pairs) if ratio.is_always_beyond())


def ratios(seen: Seen, pairs: Iterable[tuple[Row, Row]]) -> list[Ratio]:
    """Times of the first of a pair ÷ times of the second, of the pairs that share a block."""
    from benchbook.stats.ratios import time_ratio  # slow to load, and logs have no blocks

    each = (time_ratio(seen.starts, first["where"], second["where"]) for first, second in pairs)
    return [ratio for ratio in each if ratio]

"""unequal-work: comparisons in which one side takes a hundredth of the other, or waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import Compared, compared
from benchbook.explain.rules.common.findings import finding

FACTOR = 100.0  # larger ÷ smaller figure
MOST = 5000  # pairs
WAITS_S = (1, 2, 3, 4, 5, 10, 15, 20, 30, 60)  # what people set as a timeout or a sleep
LONGER = 0.005  # of such a wait, what the work may add


@rule
def extreme_changes(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the pair of a comparison that is farthest apart, where that is a factor of 100 and
    more: both sides may not have done the same work."""
    if sum(len(report.results) for report in reports) > MOST:
        return
    pairs = [(_factor(pair), pair) for pair in compared(reports) if _is_figure(pair)]
    factor, pair = max(pairs, key=lambda entry: entry[0], default=(0.0, None))
    if pair is None or factor < FACTOR:
        return
    words = {"old": pair.old, "new": pair.new, "times": factor}
    words["left"] = sum(own >= FACTOR for own, _ in pairs) - 1 or None
    longer = max((pair.old, pair.new), key=lambda own: own.base_value)
    seconds = longer.base_value / 1e9
    near = [wait for wait in WAITS_S if wait <= seconds <= wait * (1 + LONGER)]
    words["wait"] = near[0] if near and longer.is_time else None
    yield finding("extreme-change", words).explanation


def _is_figure(pair: Compared) -> bool:
    unit = pair.old.unit.lower()
    return pair.old.is_time or unit.endswith(("/s", "ops")) or pair.old.rate is not None


def _factor(pair: Compared) -> float:
    values = sorted((pair.old.base_value, pair.new.base_value))
    return values[1] / values[0]

"""How long the starts of a point waited for a CPU, and whether its samples may show just that."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from benchbook.detect import is_known

if TYPE_CHECKING:
    import pandas as pd


NEEDED = ("run_delay_ns", "wall_ns", "involuntary_switches", "voluntary_switches")
LIKE_ONE = 0.3  # of a usual wait: what is shorter is none
ENOUGH = 0.5  # of the time to be explained


class Waits(NamedTuple):
    """Of all starts together: share of their time (of each thread), ns in all, ns each time."""

    share: float
    total_ns: float
    each_ns: float

    def explain(self, longer_ns: float, samples: float) -> bool:
        """Whether so many samples may each be longer by so much because they waited."""
        like_waits = longer_ns >= LIKE_ONE * self.each_ns
        return self.total_ns > 0 and like_waits and self.total_ns >= ENOUGH * samples * longer_ns


def waits(starts: pd.DataFrame, row: Mapping[str, Any]) -> Waits | None:
    """The starts of one point (`Seen.starts_of`) -> their waits; None where they were not recorded.

    `row` tells its threads and processes. Error: a wait before a voluntary switch counts like one
    after an involuntary one, so each is about right where the program itself does not sleep.
    """
    if not set(NEEDED) <= set(starts.columns):
        return None
    recorded = starts[list(NEEDED)].astype(float).dropna()
    counts = [row.get(name) for name in ("threads", "processes")]
    lasted = float(recorded["wall_ns"].sum()) * prod(
        float(count) for count in counts if is_known(count)
    )
    if not lasted > 0:
        return None
    total = float(recorded["run_delay_ns"].sum())
    switches = float(recorded[["involuntary_switches", "voluntary_switches"]].to_numpy().sum())
    return Waits(min(total / lasted, 1.0), total, total / max(switches, 1.0))

"""timer-granularity, falls-with-size: times that were printed as 0 next to others, and times that
fall while the size grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.small_sizes import sized_times

TOOLS = ("figures", "table")
UNITS = ("ms", "s")
WINDOWS_TICK_MS, OFF = 15.625, 0.7
LEAST = 3


@rule
def printed_as_nothing(reports: Sequence[Report]) -> Iterator[str]:
    """A note on times that are 0 in whole milliseconds or seconds, where others of the list are
    whole numbers too."""
    for report in reports:
        if report.tool not in TOOLS:
            continue
        for unit in UNITS:
            times = [own for own in report.being("", "mean", "median") if own.unit == unit]
            none = [own for own in times if own.value == 0]
            some = [own for own in times if own.value > 0]
            if not none or not some or len(times) < LEAST or any(own.value % 1 for own in some):
                continue
            words = {"first": none[0], "count": len(none), "all": len(times), "tick": None}
            if unit == "ms" and some and all(map(_is_tick, some)):
                words["tick"] = some[0].value
            yield finding("printed-as-nothing", words).explanation
            return


def _is_tick(own: Result) -> bool:
    ticks = round(own.value / WINDOWS_TICK_MS)
    return ticks > 0 and abs(own.value - ticks * WINDOWS_TICK_MS) <= OFF


LARGER, SHORTER = 4.0, 0.5  # times the size, and of the time
LEAST_SIZE = 1000  # smaller numbers may count threads or processes


@rule
def falls_with_size(report: Report) -> Iterator[str]:
    """A note on a row whose time at a size is less than half of that at a quarter of the size."""
    if report.tool != "table":
        return
    for several in report.kept(sized_times).values():
        sizes = [size for size, _ in several]
        if len(sizes) < LEAST or sizes != sorted(set(sizes)) or sizes[0] < LEAST_SIZE:
            continue
        for (small, first), (large, last) in pairwise(several):
            is_larger = large >= LARGER * small and first.base_value > 0
            if is_larger and last.base_value <= SHORTER * first.base_value:
                words = {"first": first, "last": last, "times": large / small}
                yield finding("time-falls-with-size", words).explanation
                return

"""timer-granularity: latencies between cores that are whole ticks of a coarse clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "core-to-core-latency"
TICK_NS = 15.625e6  # of the system clock of Windows
LEAST_PAIRS, ALL, LEAST_NUMBERS = 10, 0.95, 3
LEAST_TICK_NS = 3.0  # of a mean: below it any whole number of ns may be one
OFF_NS = 0.75  # digits and the clock's own rate


@rule
def pairs_in_ticks(report: Report) -> Iterator[Finding]:
    """Means of so many samples that each has no or one tick of the clock.

    Decided by the number of samples and of round trips in each: the mean is a whole number of
    ticks over both. A pair of cores cannot be 0 ns apart.
    """
    if report.tool != TOOL or report.facts.get("is_cycle_counted") is not False:
        return
    pairs = [own for own in report.called("latency between cores") if not own.statistic]
    zeros = [own for own in pairs if own.value == 0]
    trips, samples = (
        report.facts.get(name) for name in ("round_trips_per_sample", "samples_per_figure")
    )
    if len(pairs) < LEAST_PAIRS:
        return
    tick = TICK_NS / (2 * trips * samples) if trips and samples else 0.0
    is_stepped = tick >= LEAST_TICK_NS and _is_stepped([own.value for own in pairs], tick)
    if is_stepped or zeros:
        own = zeros[0] if zeros else pairs[0]
        words: dict[str, object] = {"zero": zeros[0] if zeros else None, "zeros": len(zeros)}
        words |= {"pairs": len(pairs), "tick": tick if is_stepped else None}
        yield finding("pairs-in-ticks", words, about=[own])


def _is_stepped(values: Sequence[float], tick: float) -> bool:
    """Whether nearly all of them are whole numbers of ticks, and not all the same number."""
    near = [value for value in values if abs(value - tick * round(value / tick)) <= OFF_NS]
    numbers = {round(value / tick) for value in near}
    return len(near) >= ALL * len(values) and len(numbers) >= LEAST_NUMBERS

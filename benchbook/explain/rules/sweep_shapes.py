"""fixed-delay, falls-with-size: what the times of a sweep over sizes of messages show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.sweeps import Sweep, with_printed_rates
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

LEAST_SIZES = 3


def _is_time(sweep: Sweep) -> bool:
    return bytes_per_s(1.0, sweep[0].unit) is None


STEP, STAYS = 12.0, 0.5  # of times, from a size to its double; later times ÷ that one
LEAST_US = 20.0
ABOVE_PROTOCOLS = 512 * 1024  # bytes: below, protocols and algorithms change (delays.py)


@rule
def stall_from_size(report: Report) -> Iterator[Finding]:
    """A time that is many times as long for twice the bytes, and stays so for all larger ones.

    Decided by the sweep: bytes and protocols make it two to four times as long.
    """
    for sweep in report.sweeps if "message_bytes" in report.columns else []:
        times, sizes = sweep.times, sweep.sizes
        for at in range(1, len(sweep)):
            if sizes[at] > 2 * sizes[at - 1] or times[at - 1] <= 0 or at < 2:
                continue
            if sizes[at] <= ABOVE_PROTOCOLS:
                continue
            ratio = times[at] / times[at - 1]
            if not STEP <= ratio < 1e6:
                continue
            stays = min(times[at:]) >= STAYS * times[at]
            if stays and (not _is_time(sweep) or sweep[at].base_value >= LEAST_US * 1e3):
                words = {"before": sweep[at - 1], "after": sweep[at], "ratio": ratio}
                words |= {"small": sizes[at - 1], "large": sizes[at]}
                words["last"] = sweep[-1] if at + 1 < len(sweep) else None
                yield finding("stall-from-size", words, about=[sweep[at - 1], sweep[at]])
            return


FALLS, LEAST_BYTES, LEAST_RATE = 0.4, 1 << 20, 5e8


@rule
def rate_falls_with_size(report: Report) -> Iterator[Finding]:
    """A rate that falls steadily behind its peak, up to the largest messages.

    Decided by three sizes in a row, each with less than the one before, that end at two fifths of
    the peak.
    """
    if report.facts.get("pattern") == "collective":
        return
    for sweep in report.sweeps if "message_bytes" in report.columns else []:
        if len(sweep) < LEAST_SIZES + 1:
            continue
        sweep = with_printed_rates(report.results, sweep)  # noqa: PLW2901
        rates = [
            size / time if time > 0 else 0.0
            for size, time in zip(sweep.sizes, sweep.times, strict=True)
        ]
        peak = max(range(len(rates)), key=rates.__getitem__)
        tail = rates[peak:]
        falls = len(tail) > 2 and all(b < 0.95 * a for a, b in pairwise(tail))
        if falls and sweep.sizes[-1] >= LEAST_BYTES and 0 < tail[-1] <= FALLS * tail[0]:
            words = {"peak": sweep[peak], "last": sweep[-1], "part": tail[-1] / tail[0]}
            words |= {"peak_bytes": sweep.sizes[peak], "last_bytes": sweep.sizes[-1]}
            yield finding("falls-with-size", words)
            return


CLIFF, NO_MORE = 0.6, 0.7  # of the rate of the size before: at the next size, and at all behind it
LESS, LEAST_LESS = 0.93, 1 << 18  # of the peak; bytes of the largest message


@rule
def rate_drops_at_size(report: Report) -> Iterator[Finding | str]:
    """A rate that falls from one size to the next and stays low for all larger ones; a note where
    it is only somewhat lower.

    Decided by two sizes at least behind the fall. Steeper ones, and those that go on with each
    size, are told by the rules above; those of a bus by collectives.py.
    """
    if report.tool == "nccl-tests":
        return
    for sweep in report.sweeps if "message_bytes" in report.columns else []:
        if len(sweep) < LEAST_SIZES + 1 or min(sweep.times) <= 0:
            continue
        is_rate = not _is_time(sweep) and report.facts.get("pattern") != "collective"
        sweep = with_printed_rates(report.results, sweep)  # noqa: PLW2901
        sizes = sweep.sizes
        rates = [size / time for size, time in zip(sizes, sweep.times, strict=True)]
        peak = max(range(len(rates)), key=rates.__getitem__)
        tail = rates[peak:]
        if all(b < 0.95 * a for a, b in pairwise(tail)) and tail[-1] <= FALLS * tail[0]:
            continue
        at = next((at for at in range(1, len(rates) - 1) if _drops(sizes, rates, at)), None)
        if at is not None and rates[at] * STEP * sizes[at - 1] > rates[at - 1] * sizes[at]:
            words = {"before": sweep[at - 1], "after": sweep[at], "part": rates[at] / rates[at - 1]}
            words |= {"small": sizes[at - 1], "large": sizes[at], "last": sweep[-1]}
            yield finding("drops-at-size", words)
            return
        lower = next((at for at in range(peak, len(rates)) if max(rates[at:]) <= LESS * tail[0]), 0)
        is_step = lower > 0 and rates[lower] <= CLIFF * rates[lower - 1]  # delays.py tells it
        is_there = at is None and is_rate and not is_step and 0 < lower < len(rates) - 1
        if is_there and sizes[-1] >= LEAST_LESS:
            words = {"peak": sweep[peak], "last": sweep[-1], "part": rates[-1] / tail[0]}
            words |= {"peak_bytes": sizes[peak], "last_bytes": sizes[-1], "from": sizes[lower]}
            yield finding("lower-at-large-sizes", words).explanation
            return


def _drops(sizes: list[int], rates: list[float], at: int) -> bool:
    is_large = sizes[at] > ABOVE_PROTOCOLS and sizes[at] <= 4 * sizes[at - 1]
    falls = rates[at] <= CLIFF * rates[at - 1]
    return is_large and falls and max(rates[at:]) <= NO_MORE * rates[at - 1]

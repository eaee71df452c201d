"""cache-resident: the rate of a sweep falls for good where its buffers may leave a cache.

Which it is, a cache between processes of one host or another way through the network, the log alone
cannot tell: the size of the caches does.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Ask, Machine
from benchbook.explain.sweeps import Sweep, time_of

ARTEFACT = "cache-resident"
LEAST_BYTES = 64 * 1024  # of the fastest size: smaller ones are not of bandwidth
FALLS = 0.6  # of the fastest, at the largest size
FARTHER = 4  # times the fastest size: fewer may be one odd size


def check(reports: list[Report], machine: Machine) -> Iterator[Ask]:
    """One question for the sweep that falls most, where no cache is known."""
    if machine.llc_bytes:
        return
    falls = [
        fall
        for report in reports
        if "message_bytes" in report.columns and _is_between_two(report)
        for sweep in report.sweeps
        if (fall := _fall(sweep))
    ]
    if falls:
        share, best, last = min(falls, key=lambda one: one[0])
        yield Ask(
            ARTEFACT,
            "--l3 SIZE",
            f"messages of {format_bytes(last.of['message_bytes'])} (line {last.line}) move "
            f"{share:.0%} as many bytes in a second as those of "
            f"{format_bytes(best.of['message_bytes'])} (line {best.line}): where both processes "
            "share a host, the faster ones may never have left its last-level cache.",
        )


def _is_between_two(report: Report) -> bool:
    """Whether it is of messages, not of an algorithm of many that changes with the size."""
    return bool(report.facts.get("pattern") == "point to point" or report.called("time"))


def _fall(sweep: Sweep) -> tuple[float, Result, Result] | None:
    """The share of the fastest rate at the largest size, and both of them."""
    rates = [(float(one.of["message_bytes"]) / time_of(one), one) for one in sweep if time_of(one)]
    wide = [each for each in rates if each[1].of["message_bytes"] >= LEAST_BYTES]
    if not wide:
        return None
    most, best = max(wide, key=lambda each: each[0])
    after = [rate for rate, one in wide if one.of["message_bytes"] >= FARTHER * _size(best)]
    last = wide[-1]
    if not after or most <= 0 or max(after) > FALLS * most:
        return None
    return last[0] / most, best, last[1]


def _size(one: Result) -> int:
    return int(one.of["message_bytes"])

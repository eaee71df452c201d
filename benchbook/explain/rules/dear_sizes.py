"""eager-rendezvous: one size of a sweep that takes longer than the next smaller and larger ones."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.delays import is_delayed, stalls_of
from benchbook.explain.sweeps import Sweep
from benchbook.findings import Finding

DEARER = 2.5  # than either neighbour; what is ten times as dear has a rule of its own


@rule
def dear_sizes(report: Report) -> Iterator[Finding]:
    """A message that takes longer than one of more bytes, and than the next smaller one."""
    sweeps = report.sweeps if "message_bytes" in report.columns else []
    every = [own for sweep in sweeps if not any(stalls_of(sweep)) for own in _dear(sweep)]
    if not every:
        return
    times, worst, after = max(every, key=lambda own: own[0])
    yield finding("dear-size", worst=worst, after=after, times=times)


def _dear(sweep: Sweep) -> Iterator[tuple[float, Result, Result]]:
    """Such sizes: how many times as long as both neighbours at least, with the next larger one."""
    times = sweep.times
    for at in range(1, len(sweep) - 1):
        most = max(times[at - 1], times[at + 1])
        if 0 < DEARER * most <= times[at] < float("inf") and not is_delayed(sweep[at]):
            yield times[at] / most, sweep[at], sweep[at + 1]

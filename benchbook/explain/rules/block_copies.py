"""source-not-advanced, destination-not-advanced, copy-path-switch: a copy in blocks that is above
one of the whole, and what can lift it so far.

Whole and block copy read and write the same bytes. A source that stands still leaves the stores,
which are at least a third to a half of the traffic, so that it gains a factor of 2 at most where
memory bounds the copy; beyond that the destination cannot have moved either. mbw to 1.2 has both
faults (1.1 and older both, 1.2 the source only), 1.3 has none.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

MAYBE_CACHED = 256 << 20  # bytes that the caches of some machines hold
FAULTY = "mbw"
NOTICED = 1.1  # less is in the noise of a log
BEYOND_PATHS = 1.3  # another way of copying was seen to give 1.2
BEYOND_SOURCE = 2.5
IN_CACHE = 2.0  # how much more of a factor caches can give where the arrays fit into them


@dataclass(frozen=True)
class _Compared:
    """A block copy with the fastest copy of the whole in the same run. `best_factor` is that of
    the best repetitions of the block copy and of the library's own; none where the log has no
    repetitions of them."""

    report: Report
    block: Result
    whole: Result
    statistic: str
    best_factor: float | None = None

    @property
    def factor(self) -> float:
        return self.block.value / self.whole.value

    @property
    def sure_factor(self) -> float:
        """As far as the best repetitions bear it out: one slow repetition lowers a mean, and both
        faults speed up every copy in blocks."""
        return self.factor if self.best_factor is None else min(self.factor, self.best_factor)

    @property
    def version(self) -> tuple[int, ...]:
        """() where it is unknown."""
        return tuple(int(part) for part in self.report.version.split(".") if part.isdecimal())

    def source_stands(self) -> bool:
        """Whether the source did not move: the version has the fault, or only that explains it."""
        return self.version < (1, 3) if self.version else self.sure_factor >= BEYOND_PATHS

    def destination_stands(self, machine: Machine) -> bool:
        """Whether the destination did not move either."""
        if self.version:
            return self.version < (1, 2)
        llc = self.report.facts.get("llc_bytes") or machine.llc_bytes or MAYBE_CACHED
        cached = self.block.of.get("working_set_bytes", 0) <= llc
        return self.sure_factor >= BEYOND_SOURCE * (IN_CACHE if cached else 1)

    def finding(self, kind: str, **words: Any) -> Finding:
        """A finding with what the log says of both copies."""
        words |= {"block": self.block, "whole": self.whole, "statistic": self.statistic}
        words["size"] = self.block.of.get("block_bytes") or None
        words["version"] = self.report.version or "before 1.3"
        return finding(kind, words, about=[self.block], factor=self.factor)


@rule
def copy_path_switch(report: Report) -> Iterator[Finding]:
    """A copy of blocks that the C library makes in another way than that of the whole, and a little
    faster. What a log cannot decide: other sizes of the block would show it. It explains, and takes
    no figure away."""
    for copies in _compared(report):
        if copies.sure_factor >= NOTICED and not copies.source_stands():
            yield copies.finding("copy-path" if copies.version else "copy-path-perhaps")


@rule
def destination_not_advanced(report: Report, machine: Machine) -> Iterator[Finding]:
    """A block copy that is faster than writing its destination allows."""
    for copies in _compared(report):
        if copies.destination_stands(machine):
            kind = "destination" if copies.version else "destination-perhaps"
            yield copies.finding(kind)


@rule
def source_not_advanced(report: Report, machine: Machine) -> Iterator[Finding]:
    """A block copy that is faster than reading its source allows."""
    for copies in _compared(report):
        if copies.source_stands():
            sure = copies.version or copies.sure_factor > BEYOND_PATHS + 0.2
            kind = "source" if copies.version else "source-likely" if sure else "source-maybe"
            alone = not copies.version and not copies.destination_stands(machine)
            yield copies.finding(kind, why="alone" if alone else "with_destination")


def _compared(report: Report) -> Iterator[_Compared]:
    """The copy in blocks of a run of the tool with the fault, with one of the whole that tells how
    fast the library is."""
    rates = _typical(report) if report.tool == FAULTY else []
    blocks = [pair for pair in rates if "block_bytes" in pair[0].of]
    wholes = [rate for rate, _ in rates if "block_bytes" not in rate.of]
    # The library's copy, as that of the blocks is: a loop was seen to be 3.5 times as slow.
    calls = [rate for rate in wholes if rate.name != "DUMB"]
    if blocks and wholes and (report.version or calls):
        block, statistic = blocks[0]
        best, others = _best(report, [block]), _best(report, calls)
        factor = best / others if best and others else None
        whole = max(wholes, key=lambda rate: rate.value)
        yield _Compared(report, block, whole, statistic, factor)


def _typical(report: Report) -> list[tuple[Result, str]]:
    """One rate of each method: its printed mean, else the median of its samples."""
    typical: list[tuple[Result, str]] = []
    for name in dict.fromkeys(name for name, *_ in report.groups):
        if means := _usable(report, name, "mean"):
            typical.append((means[-1], "mean"))
        elif samples := _usable(report, name, "sample"):
            middle = statistics.median_low(sample.value for sample in samples)
            typical.append((next(rate for rate in samples if rate.value == middle), "median"))
    return typical


def _best(report: Report, methods: list[Result]) -> float:
    """The fastest repetition of these methods; 0 where none is printed."""
    samples = (rate for method in methods for rate in _usable(report, method.name, "sample"))
    return max((rate.value for rate in samples), default=0.0)


def _usable(report: Report, name: str, statistic: str) -> list[Result]:
    """Its rates of that name and statistic that their own times do not contradict."""
    return [
        rate
        for rate in report.called(name)
        if rate.statistic == statistic and rate.is_positive
        if not _contradicted(rate)
    ]


def _contradicted(result: Result) -> bool:
    """Whether its own time tells quite another rate: that is a finding of its own."""
    elapsed, moved = result.of.get("elapsed_s"), result.of.get("bytes_moved")
    rate = result.rate
    if not elapsed or not moved or not rate:
        return False
    slack = NOTICED * (1 + result.of.get("elapsed_error_s", 0.0) / elapsed)
    times = rate * elapsed / moved
    return times <= 0 or max(times, 1 / times) > slack

"""A copy in blocks beside a copy of the whole, as a tool printed both: how far it is above, and
what can lift it so far.

Whole and block copy read and write the same bytes. A source that stands still leaves the stores,
which are at least a third to a half of the traffic, so that it gains a factor of 2 at most where
memory bounds the copy; beyond that the destination cannot have moved either. mbw to 1.2 has both
faults (1.1 and older both, 1.2 the source only), 1.3 has none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.results import Group
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s

MAYBE_CACHED = 256 << 20  # bytes that the caches of some machines hold
FAULTY = "mbw"
NOTICED = 1.1  # less is in the noise of a log
BEYOND_PATHS = 1.3  # another way of copying was seen to give 1.2
BEYOND_SOURCE = 2.5
IN_CACHE = 2.0  # how much more of a factor caches can give where the arrays fit into them


@dataclass(frozen=True)
class Compared:
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
        return tuple(int(one) for one in self.report.version.split(".") if one.isdecimal())

    @property
    def figures(self) -> str:
        """What the log says, for a reader."""
        return (
            f"{self.block.name} copies at {self.block.value:,.0f} {self.block.unit} "
            f"({self.statistic}, line {self.block.line}), {self.factor:.2f} times the "
            f"{self.whole.value:,.0f} {self.whole.unit} of {self.whole.name} "
            f"(line {self.whole.line})"
        )

    @property
    def blocks(self) -> str:
        size = self.block.of.get("block_bytes")
        return f"blocks of {format_bytes(int(size))}" if size else "blocks"


def compared(reports: list[Report]) -> Iterator[Compared]:
    """Every run of the tool with the fault that has a copy in blocks and one of the whole that
    tells how fast the library is."""
    for report in reports:
        if report.tool != FAULTY:
            continue
        rates = _typical(report)
        blocks = [one for one in rates if "block_bytes" in one[0].of]
        wholes = [one for one in rates if "block_bytes" not in one[0].of]
        if blocks and wholes and (report.version or any(_is_call(one) for one, _ in wholes)):
            block, statistic = blocks[0]
            whole = max(wholes, key=lambda one: one[0].value)[0]
            calls = [one for one, _ in wholes if _is_call(one)]
            best, others = _best(report, [block]), _best(report, calls)
            factor = best / others if best and others else None
            yield Compared(report, block, whole, statistic, factor)


def _is_call(one: Result) -> bool:
    """Whether it may be the library's copy, as that of the blocks is: a loop was seen to be 3.5
    times as slow."""
    return one.name != "DUMB"


def _typical(report: Report) -> list[tuple[Result, str]]:
    """One rate of each method: its printed mean, else the median of its samples."""
    found = []
    for name in dict.fromkeys(name for name, *_ in report.groups):
        if means := _usable(report, name, "mean"):
            found.append((means[-1][-1], "mean"))
        elif samples := _usable(report, name, "sample"):
            values = [value for own in samples for value in own.values]
            middle = statistics.median_low(values)
            every = chain.from_iterable(samples)
            found.append((next(one for one in every if one.value == middle), "median"))
    return found


def _best(report: Report, methods: list[Result]) -> float:
    """The fastest repetition of these methods; 0 where none is printed."""
    samples = (own for one in methods for own in _usable(report, one.name, "sample"))
    return max((max(own.values) for own in samples), default=0.0)


def _usable(report: Report, name: str, statistic: str) -> list[Group]:
    """Its rates of that name and statistic that their own times do not contradict, by unit."""
    found = list[Group]()
    for unit, several in report.alike(name, statistic):
        size = bytes_per_s(1.0, unit) or 0.0
        told = several.values, several.column("elapsed_s"), several.column("bytes_moved")
        own = several
        if not all(_fits(*one, size) for one in zip(*told, strict=True)):
            usable = (one for one in several if not _contradicted(one))
            own = Group(one for one in usable if 0 < one.value < math.inf)
        found += [own] if own else []
    return found


def _fits(value: float, elapsed: float | None, moved: float | None, size: float) -> bool:
    """Whether the time tells the rate at once, as of nearly all; `size`: bytes/s of its unit."""
    if not elapsed or not moved:
        return False
    return value > 0 and moved / NOTICED < value * size * elapsed < moved * NOTICED


def _contradicted(one: Result) -> bool:
    """Whether its own time tells quite another rate: that is a finding of its own."""
    elapsed, moved = one.of.get("elapsed_s"), one.of.get("bytes_moved")
    rate = bytes_per_s(one.value, one.unit)
    if not elapsed or not moved or not rate:
        return False
    slack = NOTICED * (1 + one.of.get("elapsed_error_s", 0.0) / elapsed)
    told = rate * elapsed / moved
    return told <= 0 or max(told, 1 / told) > slack


def is_below(version: tuple[int, ...], limit: tuple[int, ...]) -> bool:
    """Whether it is known to be older."""
    return bool(version) and version < limit


def source_stands(one: Compared) -> bool:
    """Whether the source did not move: the version has the fault, or only that explains so much."""
    if one.version:
        return is_below(one.version, (1, 3))
    return one.sure_factor >= BEYOND_PATHS


def destination_stands(one: Compared, machine: Machine) -> bool:
    """Whether the destination did not move either."""
    if one.version:
        return is_below(one.version, (1, 2))
    own = one.report.facts.get("llc_bytes") or machine.llc_bytes
    bytes_used = one.block.of.get("working_set_bytes", 0)
    cached = bytes_used <= (own or MAYBE_CACHED)
    return one.sure_factor >= BEYOND_SOURCE * (IN_CACHE if cached else 1)

"""Whether a copy by dd is a read of the page cache, as far as its log shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.rules.cpus_used import Busy, busy

ABOVE_DISKS_BYTES_PER_S = 15e9  # of a file: more than a disk on four lanes of PCIe 5
OF_MEMORY_BYTES_PER_S = 3e8  # a slower read is none from memory, even on small boards
ON_CPUS = 0.7  # of the elapsed time: a read of memory does not wait
AS_LONG = (0.99, 1.05)  # the elapsed time of a command, by that which dd printed
FASTER = 1.5  # times a copy with a disk in it, a read of memory
LARGE_BYTES = 3.2e10  # a file that few machines keep in memory
NOWHERE = ("/dev/null", "/dev/zero")  # what is written there is thrown away


def copy_of(report: Report) -> Result:
    """The whole copy of dd, below what it printed on its way."""
    return report.results[-1]


def is_cached_read(report: Report) -> bool:
    """Whether a copy by dd may be a read of the page cache: of a file that the log shows read or
    written before, or at a rate that no disk has."""
    source, target = (str(report.facts.get(end, "")) for end in ("input", "output"))
    is_read = target.startswith(NOWHERE) and source and not source.startswith("/dev/")
    rate = copy_of(report).rate or 0.0
    is_again = report.facts.get("is_read_again") and rate > OF_MEMORY_BYTES_PER_S
    return bool(is_read and (is_again or rate > ABOVE_DISKS_BYTES_PER_S))


def doubts(report: Report, reports: Sequence[Report]) -> dict[str, Any]:
    """What of the log speaks against a read of memory alone, as words of a finding: `waited` for
    the part of its time without a CPU, `before` for a copy of that file as fast, `size` of a file
    that may not fit in memory. Empty where nothing does."""
    copy = copy_of(report)
    if (copy.rate or 0.0) > ABOVE_DISKS_BYTES_PER_S:
        return {}
    if (timed := _timed(copy, reports)) and timed.cpus < ON_CPUS:
        waited = math.floor(100 * (1 - timed.cpus)) / 100
        return {"waited": waited, "elapsed": timed.elapsed}
    if before := _as_fast_before(report, reports):
        return {"before": before}
    size = copy.of.get("bytes_moved", 0)
    return {"size": size} if size >= LARGE_BYTES else {}


def _timed(copy: Result, reports: Sequence[Report]) -> Busy | None:
    """The times of the command of a copy: the next below it, as long as the copy."""
    took_ns = 1e9 * copy.of.get("elapsed_s", 0.0)
    below = [
        own for report in reports if report.line > copy.line and (own := busy(report)) is not None
    ]
    first = min(below, key=lambda own: own.report.line, default=None)
    if first is None or not took_ns:
        return None
    least, most = (part * took_ns for part in AS_LONG)
    return first if least <= first.elapsed.base_value <= most else None


def _as_fast_before(report: Report, reports: Sequence[Report]) -> Result | None:
    """The first copy of that file above, to it or from it, where this one is not much faster."""
    source, copy = report.facts.get("input"), copy_of(report)
    for other in reports:
        if other.tool != report.tool or not other.results or other.line >= report.line:
            continue
        if source in (other.facts.get("input"), other.facts.get("output")):
            first = copy_of(other)
            is_as_fast = 0 < (copy.rate or 0.0) < FASTER * (first.rate or 0.0)
            return first if is_as_fast else None
    return None

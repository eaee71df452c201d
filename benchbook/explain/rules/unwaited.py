"""only-queued: work of a device that was timed with and without waiting for it; a note for kernels
that end so soon that their start counts."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import TIMES
from benchbook.findings import Finding

TOOL = "table"
_WAIT = r"(?:(?:cuda|device|gpu|torch|mps|hip|stream)[ ._]?)*(?:sync|synchroni[sz]\w*)\b"
_WITHOUT = late(rf"(?i)(?:\bw/o|\bwithout|\bno|\bnot|\bbefore)\b[ _-]?(?:the )?{_WAIT}|\bunsync\w*")
_WITH = late(
    rf"(?i)(?:\bw/|\bwith\b|\bafter\b)[ _-]?(?:the )?{_WAIT}|\bsynced\b|\bsynchroni[sz]ed\b"
)
LONGER = 5.0  # the time with a wait ÷ that without, of one row
LEAST_ROWS = 2


@rule
def only_queued(report: Report) -> Iterator[Finding]:
    """Times with and without a wait next to each other, the latter far below.

    Decided by the heads of the columns or the labels of the rows, which name the wait.
    """
    if report.tool != TOOL:
        return
    times = [own for own in report.results if own.is_positive and own.unit in TIMES]
    pairs = list[tuple[Result, Result]]()
    for row in grouped(times, lambda own: own.line).values():
        without = [own for own in row if _WITHOUT.search(own.name)]
        waited = [own for own in row if _WITH.search(own.name) and own not in without]
        if len(without) == 1 and len(waited) == 1 and without[0].unit == waited[0].unit:
            pairs.append((without[0], waited[0]))
    most = max(pairs, key=lambda pair: pair[1].value / pair[0].value, default=None)
    if len(pairs) < LEAST_ROWS or most is None or most[1].value < LONGER * most[0].value:
        return
    values = sorted((without for without, _ in pairs), key=lambda own: own.value)
    words = {"without": most[0], "waited": most[1], "ratio": most[1].value / most[0].value}
    words |= {"least": values[0], "most": values[-1]}
    yield finding("only-queued", words, about=most)


SOON_MS = 0.15  # a start takes some 5 µs of it


@rule
def short_kernels(report: Report) -> Iterator[str]:
    """A note for kernels of mixbench that end so soon that the time to start them counts."""
    if report.tool != "mixbench":
        return
    times = [own for own in report.results if own.name.endswith(" time") and own.is_positive]
    first = min(times, key=lambda own: (own.value, own.line), default=None)
    if first is not None and first.value <= SOON_MS:
        yield (
            f"line {first.line}: a kernel takes {first.value:g} ms. To start one takes some "
            "microseconds, which is in its time, so rates of such rows may be a few per cent too "
            "low. A larger buffer makes them longer"
        )

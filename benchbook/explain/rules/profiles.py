"""few-samples: what the number of samples of a profile lets its shares say."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "perf-record"
ENOUGH = 500  # samples: a share of 10 % is then off by less than 3 points
LOST = 0.01  # of those that were kept


@rule
def few_samples(report: Report) -> Iterator[Finding]:
    """A profile of few samples, and one that lost some."""
    if report.tool != TOOL:
        return
    samples = report.only("samples")
    lost = report.only("lost samples")
    if samples is None or samples.value < 0:
        return
    if samples.value < ENOUGH and not samples.of.get("rounded"):
        count = int(samples.value)
        error = 196 * (0.1 * 0.9 / max(1, count)) ** 0.5
        yield finding("few-samples", samples=samples, count=count, error=min(100.0, error))
    if lost is not None and lost.value > max(0.0, LOST * samples.value):
        yield finding("lost-samples", lost=lost, samples=samples)


LITTLE, ROWS = 1.0, 5


@rule
def shares_of_both(report: Report) -> Iterator[str]:
    """A note on two profiles (perf diff) in which no function's share differs by a point."""
    changes = [own for own in report.results if own.name.startswith("change of ")]
    if report.tool == TOOL and len(changes) >= ROWS:
        most = max(changes, key=lambda own: abs(own.value))
        if abs(most.value) < LITTLE:
            yield finding("shares-alike", first=changes[0], most=most).explanation


CUDA = "cuda-profile"
MOST = 0.6  # of the time of the device
LEAST_NS = 1e6  # of all of it together


SHORT_NS, MANY = 5e3, 10_000  # shorter than its start from the host mostly takes


@rule
def short_operations(report: Report) -> Iterator[Finding]:
    """A profile of a GPU whose time goes into many copies or kernels of a few microseconds."""
    if report.tool != CUDA:
        return
    device = [own for own in report.results if own.of.get("of_what") == "device" and own.is_time]
    whole = sum(own.base_value for own in device)
    most = max(device, key=lambda own: own.base_value, default=None)
    calls = most.of["calls"] if most is not None else 0
    if most is None or calls < MANY or most.base_value < 0.5 * whole:
        return
    if (each := most.base_value / calls) <= SHORT_NS:
        name = most.name.removesuffix(" time")
        words = {"most": most, "name": name, "calls": calls, "each": each}
        yield finding("short-operations", words | {"part": most.of["share_percent"]}, about=[most])


@rule
def copies_before_kernels(report: Report) -> Iterator[Finding | str]:
    """A profile of a GPU in which copies take more time than all kernels together.

    Decided by the total times of what the device did. A note where calls that wait for the device
    head the list of calls: their time is that of the kernels.
    """
    if report.tool != CUDA:
        return
    device = [own for own in report.results if own.of.get("of_what") == "device" and own.is_time]
    copies = [own for own in device if "memcpy" in own.name and "DtoD" not in own.name]
    whole = sum(own.base_value for own in device)
    moved = sum(own.base_value for own in copies)
    if len(device) > len(copies) and whole >= LEAST_NS and moved >= MOST * whole:
        most = max(copies, key=lambda own: own.base_value)
        words = {"most": most, "part": moved / whole, "moved": moved, "calls": most.of["calls"]}
        yield finding("copies-before-kernels", words, about=[most])
    calls = [own for own in report.results if own.of.get("of_what") == "call" and own.is_time]
    first = max(calls, key=lambda own: own.base_value, default=None)
    if first is not None and "Synchronize" in first.name:
        yield (
            f"line {first.line}: {first.name.removesuffix(' time')} heads the calls, because it "
            "waits there for the device. Its time is mostly that of kernels and copies, and no "
            "cost of the call"
        )

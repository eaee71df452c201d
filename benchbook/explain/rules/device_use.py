"""device-use: what iostat's columns say of a device, and rates that change while a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

FULL, SHORT_QUEUE, SHORT_WAIT_NS = 95.0, 3.0, 2e6
LONG_WAIT_NS, LONG_QUEUE = 3e7, 4.0
LEAST_OF_FULL = 0.9  # requests under way on average, where some are nearly all the time


@rule
def use_of_devices(report: Report) -> Iterator[Finding]:
    """Devices that iostat calls used to 100 %: with a short queue and short waits they are far from
    their limit, with long ones they are overloaded.

    Decided by its columns: %util is the share of the time with a request under way, whatever their
    number.
    """
    if report.tool != "iostat":
        return
    calm, loaded, between = (list[tuple[Result, Result, Result]]() for _ in range(3))
    for row in grouped(report.results, lambda own: own.line).values():
        by = {own.name: own for own in row if own.is_number}
        waits = [by[name] for name in ("read wait", "write wait", "wait") if name in by]
        if not {"use", "queue"} <= by.keys() or by["use"].value < FULL or not waits:
            continue
        longest = max(waits, key=lambda own: own.base_value)
        if longest.base_value >= LONG_WAIT_NS and by["queue"].value >= LONG_QUEUE:
            loaded.append((by["use"], by["queue"], longest))
        elif by["queue"].value <= SHORT_QUEUE and 0 < longest.base_value <= SHORT_WAIT_NS:
            calm.append((by["use"], by["queue"], longest))
        elif longest.base_value > SHORT_WAIT_NS and _is_of_disk(report, by["use"]):
            between.append((by["use"], by["queue"], longest))
    if loaded:
        use, queue, wait = max(loaded, key=lambda own: own[2].base_value)
        words = {"use": use, "queue": queue, "wait": wait, "device": use.of["device"]}
        yield finding("device-overloaded", words, about=[use])
    elif calm:
        use, queue, wait = calm[0]
        words = {"use": use, "queue": queue, "wait": wait, "device": use.of["device"]}
        is_doubtful = queue.value + queue.half < LEAST_OF_FULL
        kind = "use-above-queue" if is_doubtful else "use-is-no-load"
        yield finding(kind, words, about=[use] if is_doubtful else [own[0] for own in calm])
    elif between:
        use, queue, wait = between[0]
        words = {"use": use, "queue": queue, "wait": wait, "device": use.of["device"]}
        yield finding("busy-device", words, about=[use])


_DISK = late(r"^(?:sd|hd|vd|xvd|nvme|mmcblk)[a-z0-9]+$")


def _is_of_disk(report: Report, use: Result) -> bool:
    """Whether it is of a disk, in a report that is no mean since the start."""
    is_mean = report.facts.get("since_start_line") and use.of.get("interval") == 0
    return not is_mean and bool(_DISK.match(str(use.of.get("device"))))


LEAST_SAMPLES, STEP, STEADY = 7, 4.0, 2.0


@rule
def rate_in_steps(report: Report) -> Iterator[Finding]:
    """A rate that jumps once while a test of a disk runs, from a low level to a high one or back.

    Decided by the samples: all before the jump are far from all behind it.
    """
    if report.tool != "rados-bench":
        return
    for (name, statistic, _), samples in report.groups.items():
        values = [own.value for own in samples]
        if statistic != "sample" or len(values) < LEAST_SAMPLES or not all(map(is_number, values)):
            continue
        for at in range(2, len(values) - 2):
            before, after = values[:at], values[at:]
            low, high = (before, after) if max(before) < min(after) else (after, before)
            if min(low) <= 0 or min(high) < STEP * max(low) or max(high) > STEADY * min(high):
                continue
            mean = report.only(name, "mean")
            words: dict[str, Any] = {
                "first": samples[0],
                "last": samples[-1],
                "before": samples[at - 1],
            }
            words |= {"after": samples[at], "mean": mean}
            yield finding("rate-steps", words, about=[samples[at]])
            return

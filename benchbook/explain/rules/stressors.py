"""cpu-clock-rate, not-run: rates by CPU time of stress-ng for which no CPU time was counted, and
stressors that did nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "stress-ng"
LEAST_S = 1.0


@dataclass(frozen=True)
class Uncounted:
    """What a stressor did, and in which time, without any CPU time of its own."""

    stressor: str
    done: Result
    took: Result


def uncounted(report: Report) -> Uncounted | None:
    """The first stressor of a second and more that has neither user nor system time."""
    if report.tool != TOOL:
        return None
    for done in report.results:
        if not done.name.endswith(" operations") or done.unit != "operations" or done.value <= 0:
            continue
        name = done.name.removesuffix(" operations")
        took, user, kernel = (
            report.only(f"{name} {part}") for part in ("time", "user time", "system time")
        )
        if took is None or user is None or kernel is None:
            continue
        if took.value >= LEAST_S and user.value == kernel.value == 0:
            return Uncounted(name, done, took)
    return None


@rule
def stressors_without_cpu_time(report: Report) -> Iterator[Finding]:
    """Operations of a second and more for which neither user nor system time was counted."""
    if own := uncounted(report):
        yield finding("no-cpu-time", done=own.done, took=own.took, stressor=own.stressor)


@rule
def idle_stressors(report: Report) -> Iterator[Finding]:
    """Stressors that ran for a second and more and did no operation."""
    if report.tool != TOOL:
        return
    idle = [
        (own, took)
        for own in report.results
        if own.unit == "operations" and own.value == 0
        if (took := report.only(f"{own.name.removesuffix(' operations')} time"))
        if took.value >= LEAST_S
    ]
    if idle:
        done, took = idle[0]
        words = {"done": done, "took": took, "stressor": done.name.removesuffix(" operations")}
        words["more"] = len(idle) - 1 or None
        yield finding("no-operations", words, about=[own for own, _ in idle])


# Stressors that compute all the time, and wait for nothing.
COMPUTING = (
    "cpu", "matrix", "matrix-3d", "vecmath", "vecwide", "fp", "prime", "hash", "crypt", "qsort",
    "bsearch", "heapsort", "mergesort", "memcpy", "stream", "cache", "cpu-sched", "fma", "trig",
)  # fmt: skip
GOT = 0.85  # of the CPU time that all processes could have


@rule
def stressors_without_cpus(report: Report) -> Iterator[Finding]:
    """Stressors that compute all the time, and had far less CPU time than their processes need."""
    if report.tool != TOOL:
        return
    for done in report.results:
        name, count = done.of.get("test"), done.of.get("processes")
        if done.unit != "operations" or name not in COMPUTING or not isinstance(count, int):
            continue
        parts = ("time", "user time", "system time")
        took, user, kernel = (report.only(f"{name} {part}") for part in parts)
        if took is None or user is None or kernel is None or took.value < LEAST_S:
            continue
        used = user.value + kernel.value
        if 0 < used < GOT * took.value * count:
            words = {"took": took, "used": used, "count": count, "stressor": name}
            yield finding("fewer-cpus-than-stressors", words, cpus=used / took.value)
            return

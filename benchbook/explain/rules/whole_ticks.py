"""timer-granularity: single iterations that take a few ticks of a clock, and nothing in between.

Decided by the numbers of a tool that prints more digits than that. Repetitions are all whole
multiples of one step, a few of it at most, and some are none at all; of the sizes of a sweep all
are multiples of half a microsecond, which is a round trip of whole ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration, plural
from benchbook.detect.detectors.timer_granularity import REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "timer-granularity"
NEEDS = ("pattern", "benchmark")
LEAST_SAMPLES, MOST_TICKS = 6, 5
WHOLE = 1e-6  # of a tick
LEAST_SIZES, SMALL_BYTES, MOST_HALVES = 8, 1 << 16, 40
LEAST_OF_KIND = 2  # with a half behind the point, and without
SURE = 0.95


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each benchmark whose repetitions are such."""
    del machine
    for report in reports:
        if "pattern" in report.facts:
            yield from _of_sizes(report)
        if "benchmark" not in report.columns:
            continue
        for several in report.groups.values():
            own = [one for one in several if _is_single(one)]
            if len(own) >= LEAST_SAMPLES and (step := _step_ns(own)):
                yield _finding(own, step)


def _of_sizes(report: Report) -> Iterator[Finding]:
    """One finding for latencies of which none is between two halves of a microsecond."""
    for (_, statistic, unit), several in report.groups.items():
        small = [one for one in several if (one.of.get("message_bytes") or 0) <= SMALL_BYTES]
        if statistic != "mean" or unit != "us" or len(small) < LEAST_SIZES:
            continue
        halves = [2 * one.value for one in small]
        ticks = all(0 < one <= MOST_HALVES and one == round(one) for one in halves)
        # Who rounds by hand rounds to whole ones.
        odd = sum(one % 2 for one in halves) if ticks else 0
        if LEAST_OF_KIND <= odd <= len(halves) - LEAST_OF_KIND:
            yield _finding(small, 500.0)


def _is_single(one: Result) -> bool:
    """Whether it is the time of one iteration by itself."""
    timed = in_base(1.0, one.unit)[1] == "ns" and one.name.endswith("real time")
    return timed and one.statistic == "sample" and one.of.get("iterations") == 1


def _step_ns(samples: list[Result]) -> float:
    """The tick of which all are whole multiples, some of them none; 0 where they are not."""
    times = [in_base(one.value, one.unit)[0] for one in samples]
    if not all(is_number(one) and one >= 0 for one in times) or min(times) > 0 or not any(times):
        return 0.0
    step = min(one for one in times if one > 0)
    ticks = [one / step for one in times]
    whole = all(abs(one - round(one)) <= WHOLE and one <= MOST_TICKS for one in ticks)
    return step if whole and len(set(map(round, ticks))) > 1 else 0.0


def _finding(samples: list[Result], step_ns: float) -> Finding:
    first, last = samples[0], samples[-1]
    none = sum(one.value == 0 for one in samples)
    many = plural(len(samples), "repetition") if none else plural(len(samples), "figure")
    short = f", and {none} of them took no time" if none else ""
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[first.where, last.where],
        confidence=SURE,
        evidence=[
            proof("step", step_ns, "ns", "log"),
            *([proof("repetitions of no time", none, "repetitions", "log")] if none else []),
        ],
        explanation=(
            f"All {many} of {first.name} (lines {first.line} to {last.line}) are whole multiples "
            f"of {duration(step_ns)}{short}: that is the step of the clock, or half of it, and "
            "what was timed is hardly longer than it."
        ),
        remedy=REMEDY,
    )

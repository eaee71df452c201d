"""timer-granularity: repetitions of one iteration that take none, one or two ticks of a clock.

Decided by the samples of a tool that prints more digits than that: all are whole multiples of one
step, a few of it at most, and some are none at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.artefacts.timer_granularity import REMEDY
from benchbook.digits import duration, plural
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "timer-granularity"
LEAST_SAMPLES, MOST_TICKS = 6, 5
WHOLE = 1e-6  # of a tick
SURE = 0.95


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each benchmark whose repetitions are such."""
    del machine
    for report in reports:
        if "benchmark" not in report.columns:
            continue
        for several in report.groups.values():
            own = [one for one in several if _is_single(one)]
            if len(own) >= LEAST_SAMPLES and (step := _step_ns(own)):
                yield _finding(own, step)


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
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[first.where, last.where],
        confidence=SURE,
        evidence=[
            proof("step", step_ns, "ns", "log"),
            proof("repetitions of no time", none, "repetitions", "log"),
        ],
        explanation=(
            f"All {plural(len(samples), 'repetition')} of {first.name} (lines {first.line} to "
            f"{last.line}) are whole multiples of {duration(step_ns)}, and {none} of them took no "
            "time: that is the step of the clock, and one iteration is shorter than it."
        ),
        remedy=REMEDY,
    )

"""where-the-time-went: which factor made the difference between two programs that were counted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "perf-stat"
_MODE = late(r":[A-Za-z]{1,6}$")
_NO_PROGRAM = late(r"^(?:system wide|process id|thread id|CPU)")
LEAST_RATIO = 1.1  # of the two times: less is another matter
MOST_OF_IT = 0.6  # of the ratio on a log scale, that one factor makes
LEAST_NS = 5e6  # of CPU time: below it both are the start of a process
# Events that cost cycles, those that cost most first.
_COSTLY = (
    "LLC-load-misses", "cache-misses", "branch-misses", "dTLB-load-misses",
    "L1-dcache-load-misses", "page-faults", "context-switches",
)  # fmt: skip
HARDLY = 0.4  # of the ratio on a log scale
_GREW = 1.5  # times as many, next to the growth of the cycles
_SHARE_OF_CYCLES = 0.02  # of them, so many more events


@dataclass(frozen=True)
class Counted:
    """The figures of one run that its time is made of: instructions × cycles each ÷ clock."""

    report: Report
    instructions: Result
    cycles: Result
    clock: Result | None  # task-clock

    @property
    def ipc(self) -> float:
        """Instructions per cycle."""
        return self.instructions.value / self.cycles.value

    @property
    def ghz(self) -> float | None:
        """Cycles per nanosecond of CPU time."""
        return self.cycles.value / self.clock.base_value if self.clock else None


def counted(report: Report) -> Counted | None:
    """What a run of perf stat on one program counted; None where a part is missing or the whole
    machine was counted."""
    if report.tool != TOOL or _NO_PROGRAM.match(str(report.facts.get("program", ""))):
        return None
    instructions, cycles = event(report, "instructions"), event(report, "cycles", "cpu-cycles")
    clock = event(report, "task-clock")
    if instructions is None or cycles is None:
        return None
    if clock is not None and clock.base_value < LEAST_NS:
        return None
    return Counted(report, instructions, cycles, clock)


def event(report: Report, *names: str) -> Result | None:
    """The one count of an event in a run, whatever its mode; None where there are several."""
    own = [
        result
        for result in report.results
        if _MODE.sub("", result.name) in names
        if result.statistic in ("", "mean") and result.is_positive
        if "place" not in result.of and result.unit != "1/s"
    ]
    return own[0] if len(own) == 1 else None


@rule
def differences_of_counts(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Two programs counted in one log: whether the slower one executes more, waits more for each
    instruction, or runs at a lower clock.

    Decided by cycles = instructions ÷ instructions per cycle, and time = cycles ÷ clock: the factor
    that makes most of the ratio on a log scale is named, and the costly event that grew with it.
    """
    runs = [own for report in reports if (own := counted(report)) is not None]
    if len(runs) != 2:
        return
    first, second = runs
    slow, fast = sorted(runs, key=_time, reverse=True)
    if bool(slow.clock) != bool(fast.clock) or _mode(first) != _mode(second):
        return
    ratio = _time(slow) / _time(fast)
    if ratio < LEAST_RATIO:
        return
    factors = {
        "more-instructions": slow.instructions.value / fast.instructions.value,
        "fewer-per-cycle": fast.ipc / slow.ipc,
        "slower-clock": (fast.ghz or 1.0) / (slow.ghz or 1.0),
    }
    kind = max(factors, key=lambda name: factors[name])
    part = math.log(factors[kind]) / math.log(ratio) if factors[kind] > 1 else 0.0
    if part < MOST_OF_IT or (kind == "slower-clock" and "u" in _mode(slow)):
        return  # cycles of user mode over all of the time are no clock
    events = _grown(slow, fast) if kind == "fewer-per-cycle" else []
    words = {
        "slow": slow.instructions,
        "fast": fast.instructions,
        "slow_cycles": slow.cycles,
        "ratio": ratio,
        "times": factors[kind],
        "work": factors["more-instructions"],
        "slow_ipc": slow.ipc,
        "fast_ipc": fast.ipc,
        "slow_ghz": slow.ghz,
        "fast_ghz": fast.ghz,
        "what": "CPU time" if slow.clock else "cycles",
        "grown": events[0] if events else None,
        "before": events[1] if events else None,
    }
    yield finding(kind, words, about=[slow.instructions, slow.cycles, *events[:1]])
    longer, shorter = (event(run.report, "time elapsed") for run in (slow, fast))
    if longer is not None and shorter is not None:
        apart = longer.base_value / shorter.base_value
        if apart < ratio**HARDLY:
            yield (
                f"line {longer.line}: the elapsed times ({longer.value:.4g} and {shorter.value:.4g}"
                f" {longer.unit}, line {shorter.line}) are {apart:.3g} times apart, the "
                f"{words['what']} {ratio:.3g} times. So a part of the elapsed time is waiting, "
                "or not as many CPUs worked, or at another clock"
            )


def _time(run: Counted) -> float:
    return run.clock.base_value if run.clock else run.cycles.value


def _mode(run: Counted) -> str:
    """Whether the kernel was left out, by the end of the event's name."""
    return run.cycles.name.partition(":")[2]


def _grown(slow: Counted, fast: Counted) -> list[Result]:
    """The costly event that grew more than the instructions, if it did so by enough to matter."""
    more = slow.cycles.value - fast.cycles.value
    for name in _COSTLY:
        own, before = event(slow.report, name), event(fast.report, name)
        if own is None or before is None:
            continue
        grew = own.value / before.value * fast.instructions.value / slow.instructions.value
        if grew >= _GREW and own.value - before.value >= _SHARE_OF_CYCLES * more:
            return [own, before]
    return []


_OTHER_WORK = late(r"^(?:sleep|\d+(?:\.\d+)?|perf|stat|sudo)$")


# Options of perf stat that the next word belongs to.
_WITH_VALUE = late(
    r"^(?:-[eMCIroptGxDb]|--(?:event|metrics|cpu|repeat|interval-print|output|pid|tid|cgroup"
    r"|field-separator|delay|filter|pre|post|log-fd|timeout|interval-count))$"
)
_OF_SOCKET = late(r"(?i)^(?!cpu(?:_core|_atom)?/)[\w.-]+/|uncore|_pmu_")


def _started(words: Sequence[str]) -> list[str]:
    """What the words behind `perf stat` start: from the first that is no option or its value."""
    left = iter(words)
    for word in left:
        if word == "--":
            return list(left)
        if _WITH_VALUE.match(word):
            next(left, None)
        elif not word.startswith("-"):
            return [word, *left]
    return []


@rule
def whole_machine(report: Report) -> Iterator[Finding]:
    """A program that was started under perf stat -a, so that the counts are not of it alone.

    Decided by the command line above; with sleep the whole machine is what was meant, and what a
    unit of the whole socket counts can only be counted so.
    """
    words = report.asked
    if report.tool != TOOL or "stat" not in words or "system wide" not in _program(report):
        return
    behind = words[words.index("stat") + 1 :]
    program = _started(behind)
    if any(_OF_SOCKET.search(own.name) for own in report.results):
        return
    if ("-a" in behind or "--all-cpus" in behind) and program and "sleep" not in behind:
        last = program[-1] if _OTHER_WORK.match(program[0]) else program[0]
        if "/" in last:  # else it may be what an option was given
            words_of_text = {"line": report.facts.get("asked_in_line", report.line)}
            yield finding("whole-machine", words_of_text, program=last, about=report.results[:1])


def _program(report: Report) -> str:
    return str(report.facts.get("program", ""))

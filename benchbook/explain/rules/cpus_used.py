"""thread-scaling, waiting: threads that a command asks for, and the CPUs that were
busy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from benchbook.explain.context.threads_of_commands import ELSEWHERE, command_of
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("time", "hyperfine", "perf-stat")
LEAST_NS = 5e8  # of an elapsed time, in which threads have time to work
LEAST_ASKED = 2
ALONE_OF_TWO = 1.0  # one of two may wait for the other at times
ALONE = (0.7, 1.15)  # CPUs that were busy on average


class Busy(NamedTuple):
    """The elapsed time of a command and the CPU time of all of its threads, in ns."""

    report: Report
    elapsed: Result
    on_cpus_ns: float

    @property
    def cpus(self) -> float:
        """CPUs that were busy on average."""
        return self.on_cpus_ns / self.elapsed.base_value


def busy(report: Report) -> Busy | None:
    """What a report of a timed or counted command says of both times; None where one is missing."""
    if report.tool not in TOOLS or "refused" in report.facts:
        return None
    elapsed = report.only("time elapsed") or report.only("time elapsed", "mean")
    elapsed = elapsed or report.only("time", "mean")
    if elapsed is None or not elapsed.is_positive:
        return None
    names = ("user time", "system time")
    parts = [report.only(name) or report.only(name, "mean") for name in names]
    parts[1] = parts[1] or report.only("sys time") or report.only("sys time", "mean")
    clock = report.only("task-clock") or report.only("task-clock", "mean")
    clock = clock or report.only("task-clock:u", "mean") or report.only("task-clock:u")
    if all(part is not None and part.value >= 0 for part in parts):
        return Busy(report, elapsed, sum(part.base_value for part in parts if part is not None))
    if clock is not None and clock.is_positive:
        return Busy(report, elapsed, clock.base_value)
    return None


@rule
def one_cpu_of_many(reports: Sequence[Report]) -> Iterator[Finding]:
    """Commands that ask for several threads, and during which one CPU was busy at a time.

    Decided by CPU time over elapsed time. Of what starts its work elsewhere nothing is known.
    """
    for report in reports:
        asked = report.facts.get("threads")
        if not is_number(asked) or asked < LEAST_ASKED or (own := busy(report)) is None:
            continue
        is_far = bool(ELSEWHERE.match(command_of(report)))
        if asked == LEAST_ASKED and own.cpus > ALONE_OF_TWO:
            continue
        if not is_far and own.elapsed.base_value >= LEAST_NS and ALONE[0] <= own.cpus <= ALONE[1]:
            words = {"elapsed": own.elapsed, "cpu": own.on_cpus_ns, "asked": int(asked)}
            yield finding("one-of-many", words, cpus=own.cpus)
            return


_JOBS = late(r"(?:^|\s)-{1,2}(?:jobs?|j ?\d)")  # programs, of which few may be left at the end
FEW, LEAST_OF_FEW = 0.5, 4  # of the threads that are asked for; those


@rule
def few_cpus_of_many(reports: Sequence[Report]) -> Iterator[Finding]:
    """Commands that ask for several threads, and during which less than half as many CPUs were
    busy. Decided by CPU time over elapsed time."""
    for report in reports:
        own, asked = busy(report), report.facts.get("threads")
        if own is None or not is_number(asked) or asked < LEAST_OF_FEW:
            continue
        command = f"{' '.join(report.asked)} {command_of(report)}"
        is_far = bool(ELSEWHERE.match(command_of(report)) or _JOBS.search(command))
        if (
            not is_far
            and own.elapsed.base_value >= LEAST_NS
            and (ALONE[1] < own.cpus < FEW * asked)
        ):
            words = {"elapsed": own.elapsed, "cpu": own.on_cpus_ns, "asked": int(asked)}
            yield finding("few-of-many", words, cpus=own.cpus)
            return


SLOWER_FREE, MORE_CPU = 1.3, 2.0  # times the elapsed time, and the CPU time, with few threads


@rule
def fewer_threads_faster(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same statement with its threads left to a library, and with few: the latter is faster.

    Decided by both times, below lines that set one variable and say that it is unset.
    """
    runs = [
        own
        for report in reports
        if report.facts.get("threads_set_by") and (own := busy(report)) is not None
    ]
    for free in runs[:MOST_RUNS]:
        for few in runs[:MOST_RUNS]:
            names = {own.report.facts["threads_set_by"] for own in (free, few)}
            threads = few.report.facts.get("threads")
            if len(names) > 1 or "threads" in free.report.facts or not is_number(threads):
                continue
            times = free.elapsed.base_value / few.elapsed.base_value
            dearer = free.on_cpus_ns / few.on_cpus_ns if few.on_cpus_ns > 0 else 0.0
            if times >= SLOWER_FREE and dearer >= MORE_CPU and free.cpus > threads:
                words: dict[str, Any] = {"free": free.elapsed, "few": few.elapsed, "times": times}
                words |= {"cpus": free.cpus, "threads": int(threads), "dearer": dearer}
                yield finding("fewer-threads-faster", words)
                return


FASTER = 1.3  # elapsed time with fewer threads ÷ with more
ALIKE = 0.1  # of each other: two CPU times
SMALL = 0.2  # of the elapsed time: a CPU time that cannot be that of the work
MOST_RUNS = 100  # of a log that are compared, each with all others


def uncounted_children(reports: Sequence[Report]) -> tuple[Busy, Busy] | None:
    """Two runs of which the one with more threads is faster, while both have the same small CPU
    time: the process that works is not among those that were counted."""
    counted = [
        (int(report.facts["threads"]), own)
        for report in reports
        if report.tool == "hyperfine" and is_number(report.facts.get("threads"))
        if (own := busy(report))
    ]
    for fewer, slow in counted[:MOST_RUNS]:
        for more, fast in counted[:MOST_RUNS]:
            if fewer >= more or slow.elapsed.value < FASTER * fast.elapsed.value:
                continue
            if slow.report.facts.get("setting") != fast.report.facts.get("setting"):
                continue
            apart = abs(slow.on_cpus_ns - fast.on_cpus_ns)
            same = apart <= ALIKE * min(slow.on_cpus_ns, fast.on_cpus_ns)
            if same and max(slow.cpus, fast.cpus) <= SMALL:
                return slow, fast
    return None


@rule
def work_of_others(reports: Sequence[Report]) -> Iterator[Finding]:
    """CPU times that are not of the process that works.

    Decided by two numbers of threads: elapsed times that differ and CPU times that do not.
    """
    if pair := uncounted_children(reports):
        slow, fast = pair
        words: dict[str, Any] = {"slow": slow.elapsed, "fast": fast.elapsed}
        words |= {"cpu": slow.on_cpus_ns, "more": int(fast.report.facts["threads"])}
        words["fewer"] = int(slow.report.facts["threads"])
        yield finding("not-its-cpu-time", words)


SAME_TIME = 0.05  # of each other
DEARER = 1.5  # times the CPU time
LEAST_MORE_NS = 1e8
_BINDING = late(
    r"(?:numactl(?: +-\S+)+|taskset +(?:-c +\S+|0x\w+|-\S+ +\S+)"
    r"|(?:OMP|MKL|OPENBLAS)_NUM_THREADS=\d+|env|time) +"
)


@rule
def cpu_for_nothing(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same command, once bound to fewer CPUs: as fast, with a part of the CPU time."""
    every = (
        (own, command_of(report))
        for report in reports
        if report.tool in ("time", "hyperfine") and command_of(report) and (own := busy(report))
    )
    timed = list(islice(every, MOST_RUNS))
    for few, bound in timed:
        for many, free in timed:
            same = bound != free and _BINDING.sub("", f"{bound} ") == _BINDING.sub("", f"{free} ")
            near = abs(few.elapsed.value - many.elapsed.value) <= SAME_TIME * few.elapsed.value
            more = many.on_cpus_ns - few.on_cpus_ns
            is_dearer = many.on_cpus_ns >= DEARER * few.on_cpus_ns and more > LEAST_MORE_NS
            if same and near and is_dearer:
                words: dict[str, Any] = {"few": few.elapsed, "many": many.elapsed}
                words |= {"less": few.on_cpus_ns, "more": many.on_cpus_ns, "bound": bound[:60]}
                yield finding("cpu-for-nothing", words)
                return


MORE_CPUS = 1.5  # times as many that were busy
GAIN = 1.2  # times as fast


@rule
def parallel_costs(reports: Sequence[Report]) -> Iterator[str]:
    """A note on a program that perf stat counted with few and with many CPUs busy, whose CPU time
    grew with them."""
    every = (
        own
        for report in reports
        if report.tool == "perf-stat" and command_of(report) and (own := busy(report))
    )
    runs = list(islice(every, MOST_RUNS))
    for few in runs:
        for many in runs:
            same = command_of(few.report).split()[0] == command_of(many.report).split()[0]
            faster = few.elapsed.base_value / many.elapsed.base_value
            dearer = many.on_cpus_ns / few.on_cpus_ns if few.on_cpus_ns else 0.0
            if same and many.cpus >= MORE_CPUS * few.cpus and faster >= GAIN and dearer >= DEARER:
                words = {"few": few.elapsed, "many": many.elapsed, "faster": faster}
                words |= {"dearer": dearer, "cpus": many.cpus, "alone": few.cpus}
                yield finding("parallel-costs", words).explanation
                return


_ELAPSED = late(r"(?i)\b(?:wall|real|elapsed)\b")
_SYSTEM = late(r"(?i)\b(?:sys|system)\b.*\btime|^sys(?:tem)?$")
GROWS = 4.0  # times the system time with the fewest
OF_WALL = 1.0  # times the elapsed time, the system time with the most


@rule
def kernel_grows(report: Report) -> Iterator[Finding]:
    """A table of times by threads in which the system time grows and the elapsed time ends to fall.

    Decided by both columns.
    """
    if report.tool != "table" or "threads" not in report.columns:
        return
    counted = [own for own in report.results if isinstance(own.of.get("threads"), int)]
    walls = {own.of["threads"]: own for own in counted if _ELAPSED.search(own.name)}
    systems = {own.of["threads"]: own for own in counted if _SYSTEM.search(own.name)}
    if len(walls.keys() & systems.keys()) < LEAST_ASKED:
        return
    least, most = min(systems), max(systems)
    first, last = systems[least], max(systems.values(), key=lambda own: own.value)
    if not first.is_positive or last.value < GROWS * first.value or most not in walls:
        return
    if last.unit == walls[most].unit and last.value >= OF_WALL * walls[most].value:
        words = {"first": first, "last": last, "least": least, "at": last.of["threads"]}
        yield finding("kernel-grows", words, wall=walls[last.of["threads"]])


PER_CPU_SECOND = 1000.0  # switches against its will: with a CPU of its own it has a few
LEAST_SWITCHES = 2000


@rule
def preempted(report: Report) -> Iterator[Finding]:
    """A command that was interrupted for others far more often than a thread with a CPU is.

    Decided by the involuntary context switches of `time -v` over the CPU time.
    """
    switches = report.only("involuntary switches")
    own = busy(report) if switches else None
    if switches is None or own is None or own.on_cpus_ns <= 0:
        return
    if report.called("messages sent"):
        return  # macOS counts nearly all switches as involuntary, those of waiting too
    per_second = switches.value / own.on_cpus_ns * 1e9
    if switches.value >= LEAST_SWITCHES and per_second >= PER_CPU_SECOND:
        words = {"switches": switches, "per_second": per_second, "cpu": own.on_cpus_ns}
        yield finding("preempted", words, about=[switches])


LEAST_THREADS = 2


@rule
def threads_of_machine(reports: Sequence[Report], machine: Machine) -> Iterator[Finding | str]:
    """Runs with more threads than the machine has CPUs; a note where they share cores.

    Decided by the threads of the run and what the log or the caller says of the machine.
    """
    for report in reports:
        threads = _most_threads(report)
        cpus = machine.cores or report.facts.get("cores")
        cores = None if machine.cores else report.facts.get("physical_cores")
        first = report.results[0] if report.results else None
        if first is None or threads < LEAST_THREADS or has_own_memory(report):
            continue
        words = {"first": first, "threads": threads, "cpus": cpus, "cores": cores}
        if is_number(cpus) and threads > cpus:
            yield finding("more-than-cpus", words, about=[first])
            return
        if is_number(cores) and threads > cores and (cpus is None or threads <= cpus):
            yield finding("share-cores", words, about=[first]).explanation
            return


def _most_threads(report: Report) -> int:
    """Threads times processes of a run."""
    threads, processes = (report.facts.get(name) for name in ("threads", "processes"))
    if report.facts.get("nodes") or report.facts.get("pattern"):
        return 0  # on several machines, perhaps
    if report.being("sum"):
        return 0  # of which another rule knows more
    counts = [int(own) for own in (threads, processes) if is_number(own) and own > 0]
    return math.prod(counts) if counts else 0


@rule
def larger_than_memory(report: Report, machine: Machine) -> Iterator[Finding]:
    """Runs that work on more than the memory of their machine."""
    memory = machine.memory_bytes or report.facts.get("machine_bytes")
    if not is_number(memory) or memory <= 0 or has_own_memory(report):
        return
    if report.facts.get("nodes") or report.facts.get("pattern"):
        return
    sized = [
        (report.column(result, "working_set_bytes"), result)
        for result in report.knowing("working_set_bytes")
    ]
    large = [(size, result) for size, result in sized if is_number(size) and size > memory]
    if large:
        size, first = max(large, key=lambda entry: entry[0])
        words = {"first": first, "size": size, "memory": memory}
        yield finding("larger-than-memory", words, about=[first])

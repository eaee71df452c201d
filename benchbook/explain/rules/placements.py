"""numa-placement: runs that differ only in where their threads and memory are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchbook.explain.context.same_runs import WHOLE
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# Times of whole runs, as tools and programs of people call them.
_OF_WHOLE = late(
    r"(?i)(?:total |wall |run |elapsed |execution |simulation |solve )?time(?: taken| elapsed)?"
    r"|runtime|elapsed|walltime"
)
MATTERS = 1.25  # best of one placement ÷ best of the other
NO_EFFECT = 0.06  # of each other
MOST_REPORTS = 100
_MEMORY = late(r"(?:-m ?|--membind[= ])(?P<node>\d{1,3})(?= |$)")
_CORES = late(r"(?:-N ?|--cpunodebind[= ])(?P<node>\d{1,3})(?= |$)")
_NUMACTL = late(r"(?:\S*/)?numactl(?: +(?:-[mNCpli] ?\S+|--[\w-]+(?:[= ][\d,+!-]+|=\S+)?))+ +")
_TASKSET = late(r"(?:\S*/)?taskset +(?:-c +\S+|-?0x[0-9a-f]+|[0-9a-f]+) +")
_VARIABLES = late(r"(?:OMP_PROC_BIND|OMP_PLACES|GOMP_CPU_AFFINITY|KMP_AFFINITY)=\S+ *")
_PINNED = late(r"(?:\S*/)?likwid-pin +(?:-q +)?-c +\S+ +")
_SIZES = ("benchmark", "message_bytes", "array_bytes", "block_bytes", "operation", "kernel")
_STREAMS = late(r"(?<=\s)(?P<group>-w +[SMDNC]\d*:\d+\w*(?::\d+)*)(?P<streams>[-,]\S*[SMD]\d+\S*)")
# How a launcher of MPI or Slurm binds its processes.
_RANKS = late(
    r"-{1,2}(?:bind-to|map-by|rank-by|cpu[-_]bind)[ =]\S+ *|-{1,2}bind-to-(?:none|core|socket) *"
    r"|--report-bindings *"
)
_LAUNCHER = late(r"(?:^| )(?:\S*/)?(?:mpirun|mpiexec|orterun|prterun|srun)(?: |$)")
_THREADS = late(r"\b(?:OMP|MKL|OPENBLAS)_NUM_THREADS=(?P<count>\d{1,5})\b")
_DOMAIN = late(r"[SMD]\d+")


class _Placed(NamedTuple):
    """A command without its placement, and that placement in words."""

    command: str
    placement: str


def placed(words: Sequence[str]) -> _Placed:
    """A command line without what places its threads and memory, and what that was."""
    command, found = " ".join(words), list[str]()
    for pattern in (_NUMACTL, _TASKSET, _VARIABLES, _PINNED, _RANKS):
        found += [match[0].strip() for match in pattern.finditer(command)]
        command = pattern.sub("", command)
    if streams := _STREAMS.search(f" {command}"):
        found.append(f"{streams['group']}{streams['streams']}".strip())
        command = command.replace(streams["streams"], "")
    return _Placed(" ".join(command.split()), " ".join(found))


def is_remote(placement: str) -> bool:
    """Whether its memory is bound to another node than its threads."""
    memory, cores = _MEMORY.search(placement), _CORES.search(placement)
    if memory and cores:
        return memory["node"] != cores["node"]
    _, of_group, rest = placement.partition("-w ")
    if of_group:
        group, _, streams = rest.partition(":")
        domains = set(_DOMAIN.findall(streams))
        return bool(domains) and group not in domains
    return False


_ON_NODES = late(r"(?:-N ?|--cpunodebind[= ])(?P<list>[\d,-]+)")
_ON_CPUS = late(r"(?:-C ?|--physcpubind[= ]|-c )(?P<list>\d[\d,-]*)(?= |$)")
OF_A_NODE = 1000.0  # CPUs, more than any has: one list of nodes is compared with another


def cpus_of(placement: str) -> float:
    """How many CPUs a placement allows, in a measure that orders placements; infinite where it
    allows all."""
    if on_cpus := _ON_CPUS.search(placement):
        return _count(on_cpus["list"])
    if on_nodes := _ON_NODES.search(placement):
        return OF_A_NODE * _count(on_nodes["list"])
    return math.inf


def _count(numbers: str) -> float:
    """How many numbers a list like `0-3,8` has."""
    count = 0
    for part in filter(None, numbers.split(",")):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1 if first else 1
    return float(count)


@rule
def placement_of_runs(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same command with threads and memory placed differently: whether that made the
    difference, and whether memory of another node had no effect.

    Decided by the commands above the runs, which differ in nothing else, and the same figures.
    """
    runs = [(placed(report.asked), report) for report in reports[:MOST_REPORTS] if report.asked]
    for several in grouped(runs, lambda entry: (entry[1].tool, entry[0].command)).values():
        placements = {own.placement for own, _ in several}
        if len(placements) < 2:
            continue
        for figures in _same_figures(several).values():
            ordered = sorted(figures, key=lambda entry: _speed(entry[1]))
            (slow_at, slow), (fast_at, fast) = ordered[0], ordered[-1]
            times = _speed(fast) / _speed(slow)
            words = {"slow": slow, "fast": fast, "times": times}
            words |= {"slow_at": _named(slow_at), "fast_at": _named(fast_at)}
            # More CPUs may be faster for that alone.
            is_fair = cpus_of(fast_at) <= cpus_of(slow_at)
            if times >= MATTERS and slow_at != fast_at and is_fair:
                is_far = is_remote(slow_at) and not is_remote(fast_at)
                kind = "placement-remote" if is_far else "placement-matters"
                if launched := _launched(several, slow_at, fast_at):
                    kind, words = "placement-of-ranks", words | launched
                yield finding(kind, words, about=[slow, fast])
                return
            far = [own for at, own in figures if is_remote(at)]
            near = [own for at, own in figures if at and not is_remote(at)]
            if far and near and abs(_speed(far[0]) / _speed(near[0]) - 1) <= NO_EFFECT:
                yield finding("placement-without-effect", near=near[0], far=far[0])
                return


def _launched(
    several: Sequence[tuple[_Placed, Report]], slow_at: str, fast_at: str
) -> dict[str, object]:
    """The words for commands that differ in how a launcher binds; none where they do not. Messages
    between two processes are another matter: these are near each other, or far."""
    command, first = several[0][0].command, several[0][1]
    is_bound = _RANKS.search(f"{slow_at} {fast_at}") and _LAUNCHER.search(command)
    if not is_bound or first.facts.get("pattern"):
        return {}
    threads = _THREADS.search(command)
    words: dict[str, object] = {"threads": int(threads["count"]) if threads else None}
    words["default"] = None if slow_at else True
    return words | ({} if slow_at else {"slow_at": "the binding that the launcher chooses"})


def _same_figures(
    several: Sequence[tuple[_Placed, Report]],
) -> dict[tuple[object, ...], list[tuple[str, Result]]]:
    """Rates and times of whole runs by what they are of, with the placement of each."""
    figures: dict[tuple[object, ...], list[tuple[str, Result]]] = {}
    for own, report in several:
        for result in report.results:
            if "direction" in result.of:
                continue  # copies of devices: comparisons.py knows where they hang
            if result.statistic in WHOLE and result.is_positive and _is_figure(result):
                sizes = tuple(str(result.of.get(column)) for column in _SIZES)
                key = result.name, result.statistic, result.unit, *sizes
                figures.setdefault(key, []).append((own.placement, result))
    rates_first = sorted(figures.items(), key=lambda entry: entry[1][0][1].rate is None)
    return {key: own for key, own in rates_first if len(own) > 1}


def _is_figure(result: Result) -> bool:
    if result.rate is not None:
        return True
    return result.is_time and bool(_OF_WHOLE.fullmatch(result.name))


def _speed(result: Result) -> float:
    return 1 / result.base_value if result.is_time else result.base_value


def _named(placement: str) -> str:
    return f"\u201c{placement}\u201d" if placement else "nothing bound"


@rule
def placement_in_words(report: Report) -> Iterator[Finding]:
    """A text with a figure that was bound to a part of the machine, and one that was not and is
    worse.

    Decided by both figures, the only ones of their unit that the text has.
    """
    if report.tool != "text":
        return
    for unit in dict.fromkeys(result.unit for result in report.results):
        own = [result for result in report.results if result.unit == unit and result.is_positive]
        bound = [result for result in own if result.of.get("placement")]
        free = [result for result in own if not result.of.get("placement")]
        if len(bound) == len(free) == 1 and _speed(bound[0]) >= MATTERS * _speed(free[0]):
            words = {"bound": bound[0], "free": free[0], "at": bound[0].of["placement"]}
            yield finding("placement-in-words", words, times=_speed(bound[0]) / _speed(free[0]))
            return

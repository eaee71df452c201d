"""Which cores and which pairs of cores the probe looks at, and for how long.

A look must cost little, because it lies between measurements; the whole matrix is read once a run.
The times are upper bounds of the timed steps, in ns; starting and pinning the threads comes on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal, TypeVar, get_args

from benchbook.core.errors import BenchbookError
from benchbook.host.topology import Topology, last_level_of

Work = tuple[Literal["work"], int, int]  # CPU, ns
Pair = tuple[Literal["pair"], int, int, int]  # CPU, CPU, ns
Step = Work | Pair
T = TypeVar("T")
Distance = Literal["same core", "same cache", "same socket", "other socket"]

LOOK_NS = 5_000_000  # the design's limit of one look
LOOK_PAIRS = 4
STEP_NS = 250_000  # some thousand round trips
LEAST_WORK_NS = 5_000  # below this the clock's own cost shows
FULL_NS = 2_000_000_000
FULL_PAIRS = 8192  # all pairs of 128 CPUs; the command line stays well below the kernel's limit
FULL_PAIR_NS = 1_000_000


class ProbePlan(list[Step]):
    """The steps in their order, and their sum."""

    @property
    def total_ns(self) -> int:
        """The sum of the steps' bounds in ns."""
        return sum(step[-1] for step in self)


def plan_probe(topology: Topology, cpus: Sequence[int], full: bool = False) -> ProbePlan:
    """Steps of one look at the CPUs in use, or of the whole machine.

    A look works on one CPU of each core in use and bounces a line between at most 4 pairs of the
    CPUs in use, one for each distance that occurs, then pairs of CPUs not yet met: at most 5 ms.
    `full` takes every usable CPU and all pairs, or with more than 8,192 pairs an even sample of
    each distance: at most 2 s. Raises BenchbookError for no CPU or one that is not usable.
    """
    usable = [cpu.id for cpu in topology.cpus]
    chosen = list(dict.fromkeys(cpus))
    if strange := sorted(set(chosen) - set(usable)):
        raise BenchbookError(f"CPU {strange[0]} cannot be probed: this process may not use it")
    if not chosen:
        raise BenchbookError("no CPU to probe: name the CPUs in use")
    if full:
        return _full(topology, usable)
    workers: dict[int, int] = {}
    core = {cpu.id: cpu.core for cpu in topology.cpus}
    for cpu in chosen:
        workers.setdefault(core[cpu], cpu)
    pairs = _few(_by_distance(topology, chosen))
    left_ns = LOOK_NS - len(pairs) * STEP_NS
    work = _even(list(workers.values()), left_ns // LEAST_WORK_NS)
    return _plan(work, min(STEP_NS, left_ns // len(work)), pairs, STEP_NS)


def argv(steps: Iterable[Step]) -> list[str]:
    """The probe's arguments for these steps: `--work CPU:NS` and `--pair A:B:NS`, in order."""
    return [part for kind, *rest in steps for part in (f"--{kind}", ":".join(map(str, rest)))]


def _full(topology: Topology, cpus: list[int]) -> ProbePlan:
    groups = sorted(_by_distance(topology, cpus).values(), key=len)
    pairs: list[tuple[int, int]] = []
    for index, group in enumerate(groups):  # what a small group leaves over goes to the larger
        pairs += _even(group, (FULL_PAIRS - len(pairs)) // (len(groups) - index))
    work_ns = min(STEP_NS, FULL_NS // 10 // len(cpus))
    left_ns = FULL_NS - work_ns * len(cpus)
    return _plan(cpus, work_ns, pairs, min(FULL_PAIR_NS, left_ns // max(1, len(pairs))))


def _plan(work: list[int], work_ns: int, pairs: list[tuple[int, int]], pair_ns: int) -> ProbePlan:
    plan = ProbePlan(("work", cpu, work_ns) for cpu in work)
    plan += [("pair", a, b, pair_ns) for a, b in pairs]
    return plan


def _by_distance(topology: Topology, cpus: list[int]) -> dict[Distance, list[tuple[int, int]]]:
    """All pairs of these CPUs, nearest distance first."""
    last = last_level_of(topology)
    where: dict[int, tuple[int, tuple[int, ...] | None, int | None]] = {}
    for cpu in topology.cpus:
        cache = last.get(cpu.id)
        # Where nothing says who shares a cache, it puts no two CPUs together.
        where[cpu.id] = (cpu.core, cache.shared_cpus if cache else None, cpu.socket)
    by_distance: dict[Distance, list[tuple[int, int]]] = {name: [] for name in get_args(Distance)}
    for a, b in combinations(cpus, 2):
        (core_a, llc_a, socket_a), (core_b, llc_b, socket_b) = where[a], where[b]
        if core_a == core_b:
            by_distance["same core"].append((a, b))
        elif llc_a is not None and llc_a == llc_b:
            by_distance["same cache"].append((a, b))
        elif socket_a == socket_b:
            by_distance["same socket"].append((a, b))
        else:
            by_distance["other socket"].append((a, b))
    return {name: pairs for name, pairs in by_distance.items() if pairs}


def _few(groups: dict[Distance, list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """One pair of each distance, then more, as long as each brings two CPUs not met before."""
    pairs: list[tuple[int, int]] = []
    met: set[int] = set()
    for group in groups.values():
        pairs.append(next((p for p in group if met.isdisjoint(p)), group[0]))
        met.update(pairs[-1])
    for pair in (p for group in groups.values() for p in group):
        if len(pairs) < LOOK_PAIRS and met.isdisjoint(pair):
            pairs.append(pair)
            met.update(pair)
    return pairs


def _even(items: list[T], count: int) -> list[T]:
    """At most `count` of the items, evenly spread, in their order."""
    if len(items) <= count:
        return items
    return [items[k * len(items) // count] for k in range(count)]

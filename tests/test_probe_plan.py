"""What a look costs and which distances it covers."""

from __future__ import annotations

from pathlib import Path

import pytest
import sysfs_trees as trees

from benchbook.core.errors import BenchbookError
from benchbook.host.topology import Topology, pin, read_topology
from benchbook.measure.probe_plan import FULL_NS, FULL_PAIRS, LOOK_NS, ProbePlan, argv, plan_probe


@pytest.fixture(scope="module")
def two_sockets(tmp_path_factory: pytest.TempPathFactory) -> Topology:
    return read_topology(trees.epyc().write(tmp_path_factory.mktemp("epyc")))


def workers(plan: ProbePlan) -> list[int]:
    return [step[1] for step in plan if step[0] == "work"]


def pairs(plan: ProbePlan) -> list[tuple[int, int]]:
    return [(step[1], step[2]) for step in plan if step[0] == "pair"]


def distances(machine: Topology, plan: ProbePlan) -> set[str]:
    """Named again from the topology itself, so that the plan does not judge itself."""
    facts = {c.id: c for c in machine.cpus}
    last = [set(c.shared_cpus or ()) for c in machine.caches if c.level == 3]
    found = set()
    for a, b in pairs(plan):
        if facts[a].core == facts[b].core:
            found.add("core")
        elif any({a, b} <= shared for shared in last):
            found.add("cache")
        else:
            found.add("socket" if facts[a].socket == facts[b].socket else "remote")
    return found


@pytest.mark.parametrize("threads", [2, 16, 128, 256])
def test_a_look_at_128_cores_takes_5_ms_at_most(two_sockets: Topology, threads: int) -> None:
    cpus = pin(two_sockets, threads)
    plan = plan_probe(two_sockets, cpus)
    assert plan.total_ns == sum(step[-1] for step in plan) <= LOOK_NS == 5_000_000
    core = {c.id: c.core for c in two_sockets.cpus}
    assert sorted(core[cpu] for cpu in workers(plan)) == sorted({core[cpu] for cpu in cpus})
    assert len(pairs(plan)) <= 4
    assert {cpu for pair in pairs(plan) for cpu in pair} <= set(cpus)
    assert min(step[-1] for step in plan) >= 10_000


def test_a_look_covers_all_distances(two_sockets: Topology) -> None:
    everything = [c.id for c in two_sockets.cpus]
    plan = plan_probe(two_sockets, everything)
    assert distances(two_sockets, plan) == {"core", "cache", "socket", "remote"}
    assert len({cpu for pair in pairs(plan) for cpu in pair}) == 8
    assert distances(two_sockets, plan_probe(two_sockets, [0, 1, 8])) == {"cache", "socket"}
    assert distances(two_sockets, plan_probe(two_sockets, [5, 133])) == {"core"}


def test_two_cores_cost_less(tmp_path: Path) -> None:
    machine = read_topology(trees.firecracker().write(tmp_path))
    plan = plan_probe(machine, [1, 0])
    assert plan == [("work", 1, 250_000), ("work", 0, 250_000), ("pair", 1, 0, 250_000)]
    assert plan.total_ns == 750_000
    assert argv(plan) == ["--work", "1:250000", "--work", "0:250000", "--pair", "1:0:250000"]


def test_one_cpu_has_no_pair(tmp_path: Path) -> None:
    machine = read_topology(trees.firecracker().write(tmp_path))
    assert plan_probe(machine, [1, 1]) == [("work", 1, 250_000)]


def test_unknown_caches_still_give_pairs(tmp_path: Path) -> None:
    machine = read_topology(trees.arm().write(tmp_path), sysconf={"LEVEL3_CACHE_SIZE": 99}.get)
    assert pairs(plan_probe(machine, [1, 2, 3, 0])) == [(1, 2), (3, 0)]


def test_more_cores_than_a_look_can_hold(tmp_path: Path) -> None:
    trees.put(tmp_path, f"{trees.CPU_DIR}/online", "0-2047")
    machine = read_topology(tmp_path)
    plan = plan_probe(machine, range(2048))
    assert plan.total_ns <= LOOK_NS
    assert 500 < len(workers(plan)) < 2048  # evenly chosen
    assert workers(plan)[-1] > 2000


def test_the_whole_matrix(two_sockets: Topology) -> None:
    plan = plan_probe(two_sockets, [3], full=True)
    assert plan.total_ns <= FULL_NS == 2_000_000_000
    assert sorted(workers(plan)) == list(range(256))
    assert len(set(pairs(plan))) == len(pairs(plan)) <= FULL_PAIRS
    assert len(pairs(plan)) > FULL_PAIRS * 0.9
    assert distances(two_sockets, plan) == {"core", "cache", "socket", "remote"}
    core = {c.id: c.core for c in two_sockets.cpus}
    assert sum(core[a] == core[b] for a, b in pairs(plan)) == 128  # the rare ones are all there


def test_128_cpus_fit_whole(tmp_path: Path) -> None:
    machine = read_topology(trees.epyc(2, 64, 1).write(tmp_path))
    plan = plan_probe(machine, [0], full=True)
    assert len(set(pairs(plan))) == 128 * 127 // 2
    assert plan.total_ns <= FULL_NS
    assert sum(map(len, argv(plan))) < 500_000


def test_small_matrix_is_short(tmp_path: Path) -> None:
    plan = plan_probe(read_topology(trees.firecracker().write(tmp_path)), [0], full=True)
    assert pairs(plan) == [(0, 1)]
    assert plan.total_ns < 5_000_000


@pytest.mark.parametrize("cpus", [[], [0, 7], [-1]])
@pytest.mark.parametrize("full", [True, False])
def test_strange_cpus_are_refused(tmp_path: Path, cpus: list[int], full: bool) -> None:
    machine = read_topology(trees.firecracker().write(tmp_path))
    with pytest.raises(BenchbookError):
        plan_probe(machine, cpus, full=full)


def test_plans_repeat(two_sockets: Topology) -> None:
    cpus = pin(two_sockets, 64, place="spread")
    assert plan_probe(two_sockets, cpus) == plan_probe(two_sockets, cpus)

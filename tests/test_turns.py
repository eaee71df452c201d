"""Turns: a point measured in parts, alternating with others of its start, or of other starts."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from benchbook.define.points import Point
from benchbook.define.settings import load_settings
from benchbook.measure import starter as module
from benchbook.measure.invocation import Request, invoke_in_turns
from benchbook.measure.pilot import repetitions
from benchbook.measure.starter import Starter, first_unfinished
from benchbook.plan.plan import make_plan
from kernels import build, lines, points, run

# Counts what becomes of a part; crashes, refuses or hangs in the part that is asked for.
KERNEL = r"""
#include <unistd.h>
#include "bench.h"
static const struct bench_key keys[] = {{.name = "crash"}, {.name = "hang"}, {0}};
static const struct bench_method methods[] = {{.name = "count", .keys = 3}, {0}};
static uint64_t calls, prepared, again, parts;
BENCH_TIMED static void timed_count(const void *state) {
    const uint64_t *values = state;
    calls++;
    if (parts >= values[0]) {
        *(volatile int *)(uintptr_t)(state == NULL) = 1;
    }
    if (parts >= values[1]) {
        sleep(60);
    }
}
static struct bench_task ready(const struct bench_point *point) {
    static uint64_t values[2];
    values[0] = point->values[0];
    values[1] = point->values[1];
    calls = 0;
    parts++;
    return (struct bench_task){.timed = timed_count, .state = values, .bytes_declared = 8};
}
static struct bench_task prepare(const struct bench_point *point) {
    prepared++;
    return ready(point);
}
static struct bench_task prepare_again(const struct bench_point *point) {
    again++;
    return ready(point);
}
static void check(const struct bench_point *point, struct bench_report *report) {
    bench_observe_events(report, "calls", calls);
    bench_observe_count(report, "samples_of_the_last_part", point->samples);
    bench_observe_count(report, "prepared", prepared);
    bench_observe_count(report, "prepared_again", again);
    bench_observe_share(report, "smallest_share", parts == 3 ? 1 : 2, 2);
    if (parts == 100) {
        bench_fail(report, "the hundredth part is bad");
    }
}
const struct bench_kernel bench_kernel = {.name = "parts", .question = "Are there parts?",
    .keys = keys, .methods = methods, .prepare = prepare, .check = check,
    .prepare_again = AGAIN ? prepare_again : NULL};
"""
NEVER = 1_000_000


@pytest.fixture(scope="module", params=[0, 1], ids=["checked-each", "checked-last"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("parts") / "parts.c"
    source.write_text(f"#define AGAIN {request.param}\n{KERNEL}")
    return build(source.with_suffix(""), source)


def point(samples: int, warm_up: int = 2, crash: int = NEVER, hang: int = NEVER) -> dict[str, Any]:
    counts = {"samples": samples, "warmup": warm_up, "loops": 1}
    return {"method": "count", "crash": crash, "hang": hang, **counts}


def words(*wanted: dict[str, Any]) -> list[str]:
    pairs = (",".join(f"{key}={value}" for key, value in made.items()) for made in wanted)
    return [word for pair in pairs for word in ("--point", pair)]


def test_each_part_has_its_share_and_the_order_changes(program: Path) -> None:
    done = run(program, *words(point(10), point(3), point(4)), "--turns", "4", "--seed", "5")
    printed = lines(done.stdout)
    turns = [line["point"] for line in printed if line["kind"] == "turn"]
    assert Counter(turns) == {0: 4, 1: 3, 2: 4}
    assert {tuple(turns[:3]), tuple(turns[3:6]), tuple(turns[6:9])} != {(0, 1, 2)}
    same = run(program, *words(point(10), point(3), point(4)), "--turns", "4", "--seed", "5")
    assert [line["point"] for line in lines(same.stdout) if line["kind"] == "turn"] == turns
    for number, count in enumerate((10, 3, 4)):
        samples = [line for line in printed if line["kind"] == "sample" and line["point"] == number]
        assert [line["warm_up"] for line in samples] == [True, True, *[False] * count]
        starts = [line["t_start_ns"] for line in samples]
        assert starts == sorted(starts)
        assert starts[-1] < 2**63  # none was left as it was filled before


def test_reports_of_all_parts_are_joined(program: Path) -> None:
    (only,) = points(run(program, *words(point(10)), "--turns", "4").stdout)
    seen = only["observations"]
    assert seen["samples_of_the_last_part"] == 2
    if seen["prepared_again"]:
        # The first and the last part are prepared from the ground; only the last is checked.
        assert (seen["prepared"], seen["prepared_again"], seen["calls"]) == (2, 2, 2 + 1)
        assert seen["smallest_share"] == 1
    else:
        # A later part has a share of the warm-ups: one of two.
        assert (seen["prepared"], seen["calls"]) == (4, 10 + 2 + 3)
        assert seen["smallest_share"] == 0.5


def test_turns_that_begin_cold_repeat_no_warm_up(program: Path) -> None:
    done = run(program, *words(point(10)), "--turns=4", "--cold-turns")
    (only,) = points(done.stdout)
    marks = [line["warm_up"] for line in lines(done.stdout) if line["kind"] == "sample"]
    assert marks == [True, True, *[False] * 10]
    if not only["observations"]["prepared_again"]:
        assert only["observations"]["calls"] == 10 + 2


def test_a_part_that_fails_voids_its_point(program: Path) -> None:
    done = run(program, *words(*[point(50)] * 2), "--turns", "50")
    reasons = [found["reason"] for found in points(done.stdout)]
    assert reasons.count("the hundredth part is bad") == 1
    assert (done.returncode, reasons.count("")) == (1, 1)


@pytest.mark.parametrize("option", ["--turns=2", "--pause"])
def test_processes_take_no_turns(program: Path, option: str) -> None:
    done = run(program, "--processes=2", option, *words(point(3)))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot take turns" in done.stderr


def request(program: Path, *wanted: dict[str, Any], **changes: Any) -> Request:
    cpu = min(os.sched_getaffinity(0))
    made = {"turns": 4, "pauses": True, "time_limit_s": 30.0, **changes}
    return Request(binary=program, options={}, points=list(wanted), cpus=[cpu], **made)


def spans(points_of_all: list[Any]) -> list[tuple[int, int]]:
    """(start, which program) of every sample, in time."""
    return sorted(
        (start, number)
        for number, result in enumerate(points_of_all)
        for outcome in result.points
        for start in outcome.t_start_ns[outcome.warm_up :]
    )


def test_programs_that_are_alive_at_once_alternate(program: Path) -> None:
    results = invoke_in_turns(
        [request(program, point(40)), request(program, point(40), point(8))], random.Random(1)
    )
    assert [[len(own.time_ns) for own in result.points] for result in results] == [[42], [42, 10]]
    changes = [a != b for (_, a), (_, b) in itertools.pairwise(spans(results))]
    assert sum(changes) >= 5
    assert all(result.start["kernel"] == "parts" for result in results)
    # Each ran for its own time, and both for less than passed.
    passed_ns = max(r.t_end_ns for r in results) - min(r.t_start_ns for r in results)
    assert 0 < sum(result.wall_ns for result in results) <= passed_ns


def test_a_program_that_dies_in_its_turn_names_the_point_and_the_others_go_on(
    program: Path,
) -> None:
    dying = request(program, point(8), point(8, crash=NEVER), point(8, crash=6))
    dead, well = invoke_in_turns([dying, request(program, point(8))], random.Random(2))
    assert first_unfinished(dead) == 2
    assert {own.state for own in dead.points} == {"failed"}
    assert "SIGSEGV" in dead.points[2].reason
    assert [own.state for own in well.points] == ["ok"]


def test_a_program_that_hangs_in_its_turn_is_ended_and_the_others_go_on(program: Path) -> None:
    hanging = request(program, point(8), point(8, hang=4), time_limit_s=1.0)
    hung, well = invoke_in_turns([hanging, request(program, point(8))], random.Random(3))
    assert first_unfinished(hung) == 1
    assert {own.state for own in hung.points} == {"timeout"}
    assert [own.state for own in well.points] == ["ok"]


def test_an_interrupt_ends_those_that_wait(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def interrupted(self: Any) -> None:
        begun.append(self.process.process)
        if len(begun) == 3:
            raise KeyboardInterrupt
        taking(self)

    kernel = module.invoke_in_turns.__globals__["_StartedKernel"]
    taking = kernel.take_turn
    monkeypatch.setattr(kernel, "take_turn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        invoke_in_turns([request(program, point(40))] * 2, random.Random(4))
    assert all(process.poll() is not None for process in begun)


def test_a_stopped_program_dies_with_its_measurer(program: Path) -> None:
    code = (
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from benchbook.measure.child_process import started\n"
        f"p = started({[str(program), *words(point(4)), '--pause']!r},"
        " cpus=sorted(os.sched_getaffinity(0)), env={}, lock=None)\n"
        "assert p.stops_for_turn(30)\n"
        "print(p.process.pid, flush=True)\n"
        "signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as measurer:
        assert measurer.stdout is not None
        pid = int(measurer.stdout.readline())
        measurer.send_signal(signal.SIGKILL)
    for _ in range(500):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX":
            return
        os.sched_yield()
        signal.sigtimedwait([], 0.01)
    pytest.fail("it is still there")


class Noted(Starter):
    """Knows what may be alive at once; starts nothing."""


def at_once(monkeypatch: pytest.MonkeyPatch, available: int, alone: list[Any]) -> list[list[int]]:
    plan = make_plan(ROOT, "mbw", load_settings(ROOT, {"preset": "tiny"}))
    plan.alone = alone
    found = module.memory.memory_available_bytes()
    monkeypatch.setattr(
        module.memory, "memory_available_bytes", lambda: dataclasses.replace(found, bytes=available)
    )
    noted = Noted(plan, Path(), ["bytes"], lambda made: Path("/bin/true"), None)
    sizes = [[Point("gcc-O2", {"bytes": size, "method": "copy"})] for size in (100, 200, 400)]
    several = [Point("gcc-O2", {"bytes": 8, "processes": 2, "method": "copy"})]
    groups = noted._alive_at_once([*sizes, several])
    return [[made.factors["bytes"] for made in group] for group in groups]


def test_only_what_memory_holds_is_alive_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fraction = load_settings(ROOT, {"preset": "tiny"}).memory_fraction
    assert at_once(monkeypatch, 10_000, []) == [[100], [200], [400]]  # two buffers of each
    assert at_once(monkeypatch, int(1500 / fraction), []) == [[100], [200], [400]]
    assert at_once(monkeypatch, int(1300 / fraction), []) == []  # all, or none
    assert at_once(monkeypatch, 10_000, [{"bytes": 200}]) == [[100], [400]]


def starter_of_mbw() -> Starter:
    plan = make_plan(ROOT, "mbw", load_settings(ROOT, {"preset": "quick"}))
    return Starter(plan, Path(), plan.starts, lambda made: Path("/bin/true"), None, plan.peers)


def test_twins_run_with_what_runs_with_the_points_that_they_repeat() -> None:
    here = starter_of_mbw()
    compared = set().union(*here.plan.comparisons)
    groups = here.groups(here.plan.points)
    assert sorted(made.id for group in groups for made in group) == sorted(
        made.id for made in here.plan.points
    )
    numbers = {made.id: {"loops": 1, "samples": 9, "warmup": 1} for made in here.plan.points}
    seen = 0
    for group in groups:
        assert len({made.id in compared for made in group}) == 1  # all take turns, or none
        if not group[0].twin:
            continue
        (repeated,) = [own for own in groups if group[0].untwinned in own]
        companions = here._companions(group, groups)
        made = here.request(group, numbers, random.Random(1), 9, companions).points
        wanted = here.request(repeated, numbers, random.Random(1), 9).points
        assert sorted(map(str, made)) == sorted(map(str, wanted))
        assert len(made) > len(group)
        # What was left out of its own start does not run with the twin either.
        kept = [own for own in repeated if own.id == group[0].untwinned.id]
        fewer = [points for points in groups if points is not repeated] + [kept]
        assert here._companions(group, fewer) == []
        seen += 1
    assert seen == 2


def test_all_that_is_compared_has_as_many_parts() -> None:
    here = starter_of_mbw()
    groups = here.groups(here.plan.points)
    samples = {made.id: 9 + k % 5 for k, made in enumerate(here.plan.points)}
    numbers = {name: {"loops": 1, "samples": own, "warmup": 1} for name, own in samples.items()}
    takers = [group for group in groups if group[0].id in here.plan.takers]
    assert here.turns_of(takers, numbers) == 9
    others = [group for group in groups if group[0].id not in here.plan.takers]
    assert here.turns_of(others, numbers) == 1


def test_the_planner_counts_the_warm_ups_of_every_part() -> None:
    here = starter_of_mbw()
    taker = next(iter(here.plan.takers))
    count = {"loops": 1, "samples": 12, "warmup": 3}
    assert here.plan.settings.turns >= 12
    assert repetitions(here.plan, taker, count) == 12 + 3 + 11
    assert repetitions(here.plan, "another", count) == 15
    large = dataclasses.replace(here.plan, sizes={"total LLC": 1})
    assert repetitions(large, taker, count) == 12 + 3


def test_what_is_larger_than_all_caches_begins_its_turns_cold() -> None:
    plan = starter_of_mbw().plan
    bytes_of = {made.id: plan.buffers * made.factors["bytes"] for made in plan.points}
    smallest, largest = min(bytes_of.values()), max(bytes_of.values())
    for llc_bytes, at_least in ((largest // 4, largest), (smallest // 4, smallest)):
        made = dataclasses.replace(plan, sizes={"total LLC": llc_bytes})
        cold = {name for name in bytes_of if made.begins_turns_cold(name)}
        assert cold == {name for name, size in bytes_of.items() if size >= at_least}
    unknown = dataclasses.replace(plan, sizes={"total LLC": None})
    assert not any(unknown.begins_turns_cold(name) for name in bytes_of)


def test_companions_are_not_kept() -> None:
    group = [Point("v", {"method": "a"}, "again")]
    outcomes = [module.PointResult("failed", "died"), module.PointResult("failed", "died")]
    for last, guilty in ((0, 0), (1, None), (None, 0)):
        result = module.Result(outcomes, {}, 1, 0, 1, None, None, last_turn=last)
        alone = module._of_group(group, result)
        assert (alone.points, first_unfinished(alone)) == (outcomes[:1], guilty)

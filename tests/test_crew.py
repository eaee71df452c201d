"""Several processes in one start of a kernel: what they print, and that none outlives the others.

A small kernel whose second process misbehaves when asked to: it is told from the others by its
seed, which is one more than the first one's.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kernels
from benchbook.measure.invocation import explain_exit, read_output
from kernels import COMMON, KERNELS, lines, run

CPUS = sorted(os.sched_getaffinity(0))
SCHEDULES = ["apart", "together"]
MIB = 2**20
PATIENCE_S = 120  # a loaded machine may take its time; nothing is timed here
ENDLESS = "samples=1,warmup=0,loops=1000000000000"
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

KERNEL = r"""
#include "bench.h"

enum { GOOD, WRONG, CRASH, CANNOT, REFUSE };
static const struct bench_method methods[] = {
    {.name = "good"}, {.name = "wrong"}, {.name = "crash"}, {.name = "cannot"}, {.name = "refuse"},
    {0},
};
static uint64_t seed;
static volatile uint64_t calls;
static volatile int zero;

BENCH_TIMED static void timed_count(const void *state) {
    (void)state;
    calls++;
}

BENCH_TIMED static void timed_crash(const void *state) {
    *(volatile int *)(uintptr_t)zero = (int)(uintptr_t)state;
}

static struct bench_buffers open_none(const struct bench_settings *settings) {
    seed = settings->seed;
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    const bool second = seed == 8;
    calls = 0;
    if (point->method == CANNOT && second) {
        cannot_run("no \"hardware\" here; buy some");
    }
    if (point->method == REFUSE && second) {
        refuse("too much of it; give less");
    }
    bench_timed *timed = point->method == CRASH && second ? timed_crash : timed_count;
    return (struct bench_task){.timed = timed, .bytes_declared = 8};
}

static void check(const struct bench_point *point, struct bench_report *report) {
    bench_observe_count(report, "seed", seed);
    bench_observe_share(report, "share", 1, seed);
    bench_observe_real(report, "real", (double)seed);
    bench_observe_absent(report, "nothing");
    if (point->method == WRONG && seed == 8) {
        bench_fail(report, "it did not arrive");
    }
}

const struct bench_kernel bench_kernel = {.name = "tiny",
                                          .question = "Do the processes work?",
                                          .methods = methods,
                                          .open = open_none,
                                          .prepare = prepare,
                                          .check = check};
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crew") / "tiny.c"
    path.write_text(KERNEL)
    return path


@pytest.fixture(scope="module")
def tiny(source: Path) -> Path:
    return kernels.build(source.with_name("tiny"), source)


@pytest.fixture(scope="module")
def mbw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mbw")
    flags = ("-O2", "-fno-builtin-mempcpy")
    return kernels.build(folder / "mbw", KERNELS / "mbw" / "mbw.c", flags=flags)


def words(processes: int, schedule: str, *methods: str, counts: str = "") -> list[str]:
    counts = counts or "samples=3,warmup=1,loops=2"
    points = [f"--point=method={method},{counts}" for method in methods]
    return [f"--processes={processes}", f"--schedule={schedule}", "--seed=7", *points]


def printed(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Samples and points."""
    found = lines(text)
    return tuple([line for line in found if line["kind"] == kind] for kind in ("sample", "point"))


@pytest.mark.parametrize("processes", [2, 4])
def test_apart_each_process_has_its_own_samples(mbw: Path, processes: int) -> None:
    point = "copy,call=memcpy"
    done = run(mbw, f"--bytes={MIB}", *words(processes, "apart", point, "loop"))
    assert (done.returncode, done.stderr) == (0, "")
    samples, points = printed(done.stdout)
    assert len(samples) == 2 * processes * 4
    for result in points:
        assert result["status"] == "ok"
        assert result["bytes_declared"] == 2 * MIB  # of one process
        assert result["observations"]["work_done_fraction"] == 1
        assert result["observations"]["processes"] == processes
        assert 0 <= result["observations"]["overlap_fraction"] <= 1
        assert result["usage"]["resident_bytes"] > processes * 2 * MIB
    for process in range(processes):
        own = [sample for sample in samples if sample.get("process", 0) == process]
        assert [sample["sample"] for sample in own] == [0, 1, 2, 3] * 2
        assert [sample["warm_up"] for sample in own] == [True, False, False, False] * 2
        ends = [sample["t_start_ns"] + sample["time_ns"] for sample in own]
        assert all(end <= sample["t_start_ns"] for end, sample in zip(ends, own[1:], strict=False))


@pytest.mark.parametrize("processes", [2, 4])
def test_together_a_sample_is_that_of_all(mbw: Path, processes: int) -> None:
    point = "copy,call=memcpy"
    done = run(mbw, f"--bytes={MIB}", *words(processes, "together", point, "loop"))
    assert (done.returncode, done.stderr) == (0, "")
    samples, points = printed(done.stdout)
    assert [sample["sample"] for sample in samples] == [0, 1, 2, 3] * 2
    assert not any("process" in sample for sample in samples)
    for result in points:
        assert result["bytes_declared"] == 2 * MIB * processes
        assert result["observations"]["processes"] == processes
        assert result["observations"]["start_skew_ns"] >= 0
    ends = [sample["t_start_ns"] + sample["time_ns"] for sample in samples]
    assert all(end <= sample["t_start_ns"] for end, sample in zip(ends, samples[1:], strict=False))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_process_prints_what_it_always_did(tiny: Path, schedule: str) -> None:
    plain = run(tiny, "--seed=7", *words(1, "apart", "good")[3:])
    (only,) = printed(plain.stdout)[1]
    (same,) = printed(run(tiny, *words(1, schedule, "good")).stdout)[1]
    assert only["observations"] == {"seed": 7, "share": 1 / 7, "real": 7, "nothing": None}
    assert same["observations"] == only["observations"]
    assert same["bytes_declared"] == only["bytes_declared"] == 16


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shares_are_those_of_the_worst_and_the_rest_of_the_first(tiny: Path, schedule: str) -> None:
    (only,) = printed(run(tiny, *words(3, schedule, "good")).stdout)[1]
    seen = {"seed": 7, "share": 1 / 9, "real": 7, "nothing": None, "processes": 3}
    assert seen.items() <= only["observations"].items()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_failed_check_names_its_process_and_voids_the_point(tiny: Path, schedule: str) -> None:
    done = run(tiny, *words(2, schedule, "wrong", "good"))
    bad, good = printed(done.stdout)[1]
    assert done.returncode == 1
    assert (bad["status"], bad["reason"]) == ("fail", "process 1: it did not arrive")
    assert good["status"] == "ok"
    assert lines(done.stdout)[-1]["status"] == 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_one_cannot_do_ends_all_with_its_reason(tiny: Path, schedule: str) -> None:
    done = run(tiny, *words(2, schedule, "good", "cannot", "good"))
    reason = 'process 1: no "hardware" here; buy some'
    assert (done.returncode, done.stderr) == (77, f"{reason}\n")
    assert lines(done.stdout)[-1]["reason"] == reason
    by_all = [result["point"] for result in printed(done.stdout)[1]]
    # One may have given up before the other has written its first: they meet before each sample,
    # not behind the last one.
    assert by_all in ([0], [])
    refused = run(tiny, *words(2, schedule, "refuse"))
    assert (refused.returncode, refused.stderr) == (1, "process 1: too much of it; give less\n")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_crash_in_one_ends_all_and_names_it(tiny: Path, schedule: str) -> None:
    done = run(tiny, *words(2, schedule, "good", "crash"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "process 1 (of 0 to 1, on CPU" in done.stderr
    assert f"signal {int(signal.SIGSEGV)} " in done.stderr
    _, points = read_output(done.stdout, 2)
    # Apart, the other one may not have come as far when this one crashed.
    assert schedule == "apart" or points[0] is not None
    assert points[1] is None
    assert "process 1" in explain_exit(done.returncode, done.stdout, done.stderr, 9)[1]


def test_memory_that_one_cannot_have_is_no_failure(mbw: Path) -> None:
    limit = f"--as={256 * MIB}"
    point = words(2, "together", "copy,call=memcpy")
    done = run(mbw, f"--bytes={1024 * MIB}", *point, under=("prlimit", limit))
    assert done.returncode == 77
    (end,) = lines(done.stdout)
    assert f"a buffer of {1024 * MIB} bytes cannot be allocated" in end["reason"]


BAD_ARGUMENTS = {
    "--processes=0": "--processes '0' is not a whole number from 1 to 1024",
    "--processes=1025": "from 1 to 1024",
    "--processes=two": "'two'",
    "--schedule=both": "--schedule 'both' is neither together nor apart",
}


@pytest.mark.parametrize("argument", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(tiny: Path, argument: str) -> None:
    done = run(tiny, argument, "--point=method=good,samples=1,warmup=0,loops=1")
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[argument] in done.stderr
    assert done.stderr.count("\n") == 1


def stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat behind the name: state, parent, ...; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def children(parent: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return sorted(pid for pid in pids if stat(pid)[1:2] == [str(parent)])


def is_gone(pid: int) -> bool:
    return stat(pid)[:1] in ([], ["Z"], ["X"])


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


@pytest.fixture
def endless(tiny: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts four processes that measure for ever, all of them there; ends them with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(schedule: str) -> subprocess.Popen[str]:
        command = [str(tiny), *words(4, schedule, "good", counts=ENDLESS)]
        started.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        assert eventually(lambda: len(children(started[-1].pid)) == 4)
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_killing_one_process_ends_all(endless: Callable, schedule: str) -> None:
    parent = endless(schedule)
    workers = children(parent.pid)
    turns = {CPUS[number % len(CPUS)] for number in range(4)}

    def each_on_its_own() -> bool:
        places = [os.sched_getaffinity(worker) for worker in workers]
        return set.union(*places) == turns and all(len(place) == 1 for place in places)

    assert eventually(each_on_its_own)
    os.kill(workers[2], signal.SIGKILL)
    out, err = parent.communicate(timeout=PATIENCE_S)
    assert parent.returncode == 1
    assert "was ended by signal 9 " in err
    assert err.count("\n") == 1
    assert not any(json.loads(line)["kind"] == "end" for line in out.splitlines())
    assert all(map(is_gone, workers))  # waited for before it ended


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_killing_the_parent_leaves_nothing_running(endless: Callable, schedule: str) -> None:
    parent = endless(schedule)
    workers = children(parent.pid)
    assert eventually(lambda: all(len(os.sched_getaffinity(worker)) == 1 for worker in workers))
    parent.kill()
    assert eventually(lambda: all(map(is_gone, workers)))


def test_what_all_finished_is_printed_while_the_rest_goes_on(tiny: Path) -> None:
    point = f"--point=method=good,{ENDLESS}"
    command = [str(tiny), *words(2, "apart", "good"), point]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        kinds = [json.loads(parent.stdout.readline())["kind"] for _ in range(10)]
        parent.kill()  # as at the time limit
    assert kinds == ["start", *["sample"] * 8, "point"]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_sanitizers_find_nothing(source: Path, tmp_path: Path, schedule: str) -> None:
    program = kernels.build(tmp_path / "tiny", source, flags=SANITIZERS, common=SANITIZERS)
    done = run(program, *words(3, schedule, "good", "good"))
    assert (done.returncode, done.stderr) == (0, "")
    assert run(program, *words(3, schedule, "wrong")).returncode == 1
    assert run(program, *words(3, schedule, "cannot")).returncode == 77


MEETING_NEEDS = ("meeting", "team", "cannot_run", "refuse", "emit")
MEETING = r"""
#include "meeting.h"
#include "team.h"

static struct meeting meeting;

static void meet(struct member *self, void *shared) {
    uint64_t attended = 0;
    for (int i = 0; i < 1000; i++) {
        if (!meeting_wait(&meeting, &attended, NULL) || meeting.arrivals.value < attended * 2) {
            *(atomic_bool *)shared = true;
        }
    }
    (void)self;
}

int main(void) {
    const uint64_t cpus[] = {CPU, CPU};
    atomic_bool wrong = false;
    meeting = (struct meeting){.members = 2, .limit_ns = MEETING_LIMIT_NS, .sleeps = true};
    team_run(cpus, 2, meet, &wrong);
    for (int sleeps = 0; sleeps < 2; sleeps++) { /* alone */
        uint64_t attended = 0;
        meeting = (struct meeting){.members = 2, .limit_ns = 1000000, .sleeps = sleeps};
        wrong = meeting_wait(&meeting, &attended, NULL) || !meeting.missed || wrong;
    }
    return wrong;
}
"""


def test_who_waits_in_vain_is_told_and_two_meet_on_one_cpu(tmp_path: Path) -> None:
    (tmp_path / "meeting.c").write_text(MEETING)
    own = kernels.compiled(tmp_path / "meeting.c", "-O2", f"-DCPU={CPUS[0]}")
    needed = [COMMON / f"{name}.c" for name in MEETING_NEEDS]
    program = kernels.linked(tmp_path / "meeting", own, *kernels.all_compiled(needed, "-O2"))
    assert run(program).returncode == 0

"""The probe: its lines, its bounds, and that nothing runs on when a thread cannot start."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import kernels
from kernels import KERNELS, build, run

SOURCE = KERNELS / "probe" / "probe.c"
CPUS = sorted(os.sched_getaffinity(0))
ABSENT = 1023
MS = 1_000_000
# As long as a step may be asked to take. A loaded machine may keep a thread from its core for long.
LONG_NS = 60_000 * MS
TRIES = 20

needs_two = pytest.mark.skipif(len(CPUS) < 2, reason="only one CPU may be used here")


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("probe") / "probe", SOURCE)


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What a probe that succeeded printed, without its last line."""
    assert (done.returncode, done.stderr) == (0, "")
    found = kernels.lines(done.stdout)
    assert (found[-1]["kind"], found[-1]["status"]) == ("end", 0)
    assert found[-1]["wall_ns"] > 0
    return found[:-1]


def all_steps(time_ns: int) -> list[str]:
    a, b = CPUS[:2]
    return [
        f"--work={a}:{time_ns}",
        f"--pair={a}:{b}:{time_ns}",
        f"--anchor={a}+{b}:65536:5",
        f"--work={b}:{time_ns}",
        f"--pair={b}:{a}:{time_ns}",
        f"--anchor={b}:4097:4",
    ]


@needs_two
def test_steps_run_in_the_order_given(probe: Path) -> None:
    found = lines(run(probe, *all_steps(2 * MS)))
    assert [line["kind"] for line in found] == ["work", "pair", "anchor"] * 2
    starts = [line["t_start_ns"] for line in found]
    assert starts == sorted(starts)
    assert [line["cpu"] for line in found if line["kind"] == "work"] == CPUS[:2]
    pairs = [(line["a"], line["b"]) for line in found if line["kind"] == "pair"]
    assert pairs == [tuple(CPUS[:2]), tuple(CPUS[1::-1])]
    assert [line["cpus"] for line in found if line["kind"] == "anchor"] == [CPUS[:2], [CPUS[1]]]


def test_work_is_counted_and_bounded(probe: Path) -> None:
    ratios = []
    for _ in range(TRIES):
        (work,) = lines(run(probe, f"--work={CPUS[0]}:{3 * MS}"))
        assert work["iterations"] > 0
        assert 3 * MS <= work["time_ns"] < LONG_NS
        ratios.append(work["ns_per_iteration"] * work["iterations"] / work["time_ns"])
        assert 0 < ratios[-1] < 5
        if ratios[-1] > 0.05:
            return
    # The median of the batches is of the mean's order where nothing else took the CPU meanwhile.
    pytest.fail(f"the median is never near the mean: {ratios}")


@needs_two
def test_a_pair_is_counted_and_bounded(probe: Path) -> None:
    (pair,) = lines(run(probe, f"--pair={CPUS[0]}:{CPUS[1]}:{20 * MS}"))
    assert 0 <= pair["time_ns"] < LONG_NS
    if pair["round_trip_ns"] is None:  # the partner's core was taken: seen on loaded machines
        assert pair["round_trips"] < 32
    else:
        assert pair["round_trips"] >= 32
        assert 0 < pair["round_trip_ns"] <= pair["time_ns"]


def test_an_anchor_keeps_every_sample(probe: Path) -> None:
    (anchor,) = lines(run(probe, f"--anchor={CPUS[0]}:1000000:6"))
    assert anchor["bytes"] == 1_000_000
    assert len(anchor["samples_ns"]) == 6
    ordered = sorted(anchor["samples_ns"])
    assert anchor["median_ns"] == (ordered[2] + ordered[3]) / 2
    assert ordered[0] > 0


@needs_two
@pytest.mark.parametrize(
    "step",
    [
        f"--work={ABSENT}:{LONG_NS}",
        f"--pair={CPUS[0]}:{ABSENT}:{LONG_NS}",
        f"--anchor={'+'.join(map(str, [*CPUS, ABSENT]))}:4096:9",
    ],
)
def test_a_cpu_that_is_not_there_ends_all_at_once(probe: Path, step: str) -> None:
    before = time.monotonic_ns()
    done = run(probe, f"--work={CPUS[0]}:{MS}", step)
    assert time.monotonic_ns() - before < LONG_NS
    assert done.returncode == 77
    work, end = kernels.lines(done.stdout)
    assert work["kind"] == "work"
    assert (end["kind"], end["status"]) == ("end", 77)
    assert end["reason"].startswith(f"no thread could be started on CPU {ABSENT} ")
    assert done.stderr == end["reason"] + "\n"


@needs_two
def test_a_partner_without_memory_ends_all_at_once(probe: Path) -> None:
    """The stack of a thread takes 8 MiB of address space: there is room for one of them only."""
    step = f"--anchor={CPUS[0]}+{CPUS[1]}:4096:9"
    done = run(probe, step, under=("prlimit", f"--as={16 << 20}", "--stack=8388608"))
    assert done.returncode == 77
    assert f"on CPU {CPUS[1]} (" in done.stderr


def test_an_anchor_without_memory_cannot_run(probe: Path) -> None:
    done = run(probe, f"--anchor={CPUS[0]}:1000000000:3", under=("prlimit", f"--as={256 << 20}"))
    assert done.returncode == 77
    assert "1000000000" in done.stderr


BAD_ARGUMENTS = {
    "": "give a --work, --pair or --anchor",
    "--work=0": "--work CPU:NS: '' is not a whole number",
    "--work=:5": "--work CPU:NS: '' is not a whole number",
    "--work=0:0": "'0' is not a whole number from 1",
    "--work=0:5:6": "'5:6' is not a whole number",
    "--work=0+1:5": "'0+1' is not a whole number",
    "--work=2000:5": "'2000' is not a whole number from 0 to 1023",
    "--pair=0:0:5": "CPU 0 twice",
    "--pair=0:5": "--pair A:B:NS: '' is not",
    "--anchor=0+0:64:3": "CPU 0 twice",
    "--anchor=0+:64:3": "'' is not a whole number",
    "--anchor=0:64": "--anchor CPUS:BYTES:SAMPLES: '' is not",
    "--anchor=0:64:0": "'0' is not",
    "--speed=3": "'--speed=3' is unknown",
    "0:5": "belongs to no option",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(probe: Path, arguments: str) -> None:
    done = run(probe, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


@needs_two
@pytest.mark.parametrize(
    ("name", "sanitizer"),
    [("gcc", "address,undefined"), ("gcc", "thread"), ("clang", "thread")],
)
def test_sanitizers_find_nothing(name: str, sanitizer: str, tmp_path: Path) -> None:
    flags = ("-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    program = build(tmp_path / "probe", SOURCE, flags=flags, common=flags, compiler=name)
    assert len(lines(run(program, *all_steps(MS)))) == 6
    assert run(program, f"--pair={CPUS[0]}:{ABSENT}:{MS}").returncode == 77

"""What a measured program prints has a bound, and its end is waited for with a limit."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from pathlib import Path

import pytest

from benchbook.measure import child_process
from benchbook.measure.child_process import Started, started
from benchbook.measure.invocation import explain_exit


def begun(*command: str, with_children: bool = False) -> Started:
    cpus = sorted(os.sched_getaffinity(0))
    env = {"PATH": os.environ["PATH"]}
    return started(list(command), cpus=cpus, env=env, lock=None, with_children=with_children)


@pytest.mark.parametrize("where", ["", " >&2"])
def test_a_program_that_prints_without_end_is_ended(where: str) -> None:
    program = begun("sh", "-c", f"exec yes{where}")
    status, out, err = program.finish(60)
    assert status == child_process.TOO_MUCH
    assert explain_exit(status, out, err, 60) == (
        "failed",
        "printed more than 64 MiB, and was ended",
    )
    assert len(out) + len(err) < 65 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20  # KiB
    assert program.process.poll() is not None


def test_one_that_prints_without_end_in_its_turn_is_ended_too() -> None:
    program = begun("yes")
    assert not program.stops_for_turn(60)
    assert program.finish(60)[0] == child_process.TOO_MUCH


def test_much_output_on_both_sides_arrives_whole() -> None:
    lines = 200_000
    script = f"seq {lines}; seq {lines} >&2; exit 3"
    status, out, err = begun("sh", "-c", script).finish(60)
    assert (status, out.count("\n"), err.count("\n")) == (3, lines, lines)


def test_a_program_that_hangs_is_ended_with_what_it_printed() -> None:
    began = time.monotonic()
    status, out, _ = begun("sh", "-c", "echo said; exec sleep 600").finish(0.5)
    assert (status, out) == (None, "said\n")
    assert time.monotonic() - began < 60


def test_who_closed_its_output_is_waited_for_no_longer_than_the_limit() -> None:
    assert begun("sh", "-c", "exec >&- 2>&-; exec sleep 600").finish(0.5)[0] is None
    assert begun("sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 5").finish(60)[0] == 5


@pytest.mark.parametrize("with_children", [False, True])
def test_a_child_that_holds_the_pipes_holds_up_nobody(with_children: bool, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {pid}; exec sleep 600"
    assert begun("sh", "-c", script, with_children=with_children).finish(1.0)[0] is None
    left = Path(f"/proc/{int(pid.read_text())}/stat")
    if not with_children:
        subprocess.run(["kill", pid.read_text().strip()], check=True)
        return
    until = time.monotonic() + 20
    while left.exists() and left.read_text().rpartition(")")[2].split()[0] not in "ZX":
        assert time.monotonic() < until
        time.sleep(0.01)

"""Our round trips against a peer's in turns: made-up ones, real ones, and what may be missing."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kernels
from benchbook.commands import bench_sockperf
from benchbook.commands.bench_sockperf import NotComparedError, Trips, Turn
from kernels import KERNELS

MS = 1_000_000


def trips(turns: list[Turn], times_ns: list[int], *, first_ns: int = 0) -> Trips:
    """One after the other in each turn, all of a turn as long; before it, from `first_ns` on."""
    found = []
    if first_ns:
        found += [
            (entry, times_ns[0]) for entry in range(first_ns, turns[0].began_ns - 5 * MS, 7000)
        ]
    for (began, ended), time_ns in zip(turns, times_ns, strict=True):
        found += [(entry, time_ns) for entry in range(began, ended, time_ns)]
    return Trips(*(np.array(column) for column in zip(*found, strict=True)))


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Turn], list[Turn]]:
    """Of both, 5 ms each, 20 times."""
    monkeypatch.setattr(bench_sockperf, "TURN_S", 0.005)
    starts = [(1000 + 10 * number) * MS for number in range(20)]
    return (
        [Turn(start, start + 5 * MS) for start in starts],
        [Turn(start + 5 * MS, start + 10 * MS) for start in starts],
    )


def test_both_are_compared_turn_by_turn(turns: tuple[list[Turn], list[Turn]]) -> None:
    """The machine is half as fast in every other turn: that changes nothing."""
    own = trips(turns[0], [6000, 12000] * 10)
    peer = trips(turns[1], [5000, 10000] * 10)
    found = bench_sockperf.compared(own, turns[0], peer, turns[1])
    assert (math.exp(found.estimate), found.n) == (pytest.approx(1.2), 20)
    assert found.high - found.low < 1e-9


def test_what_happens_at_the_ends_of_a_turn_is_left_out(
    turns: tuple[list[Turn], list[Turn]],
) -> None:
    own, peer = (trips(turn, [5000] * 20) for turn in turns)
    slow = own.time_ns.copy()
    for began, ended in turns[0]:
        at_ends = (own.start_ns < began + 0.09 * (ended - began)) & (own.start_ns >= began)
        slow[at_ends] = 40 * MS
    found = bench_sockperf.compared(Trips(own.start_ns, slow), turns[0], peer, turns[1])
    assert math.exp(found.estimate) == pytest.approx(1)


@pytest.mark.parametrize("waited_ns", [0, 4 * MS])
@pytest.mark.parametrize("slip_ns", [0, 123 * MS, -900 * MS])
def test_another_clock_is_matched(
    turns: tuple[list[Turn], list[Turn]], slip_ns: int, waited_ns: int
) -> None:
    """Also where the peer had had no CPU for a while when it was stopped."""
    theirs = trips(turns[1], list(range(5000, 7000, 100)), first_ns=500 * MS)
    last = theirs.start_ns[theirs.start_ns < turns[1][0].began_ns - 5 * MS].max()
    # One pause more, before the turns, that nobody asked for.
    kept = (theirs.start_ns < 600 * MS) | (theirs.start_ns > 612 * MS)
    theirs = Trips(theirs.start_ns[kept], theirs.time_ns[kept])
    moved = Trips(theirs.start_ns + slip_ns, theirs.time_ns)
    found = bench_sockperf.matched(moved, turns[1], int(last) + waited_ns)
    assert np.allclose(found.start_ns, theirs.start_ns, rtol=0, atol=0.01 * 5 * MS)


def test_a_clock_that_cannot_be_matched_is_said(turns: tuple[list[Turn], list[Turn]]) -> None:
    without_pause = Trips(np.arange(0, 2000 * MS, 7000), np.full(285715, 7000))
    with pytest.raises(NotComparedError, match="could not be matched"):
        bench_sockperf.matched(without_pause, turns[1], 900 * MS)


def test_programs_that_end_early_are_said(
    turns: tuple[list[Turn], list[Turn]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotComparedError, match="had ended before sockperf had a turn"):
        bench_sockperf.matched(trips(turns[1], [5000] * 20), [], 0)
    (tmp_path / "ours").write_text("no such\nhost")
    done = subprocess.Popen(["false"])
    with pytest.raises(NotComparedError, match="ours ended with exit status 1: no such host"):
        bench_sockperf._finish(done, tmp_path / "ours")
    monkeypatch.setattr(bench_sockperf, "LIMIT_S", 0.01)
    with subprocess.Popen(["sleep", "60"]) as process:
        with pytest.raises(NotComparedError, match="theirs did not end within"):
            bench_sockperf._finish(process, tmp_path / "theirs")
        process.kill()


def test_few_turns_say_nothing(turns: tuple[list[Turn], list[Turn]]) -> None:
    own, peer = (trips(turn, [5000] * 20) for turn in turns)
    with pytest.raises(NotComparedError, match="there were 3 turns of both"):
        bench_sockperf.compared(own, turns[0][:3], peer, turns[1])
    few = Trips(own.start_ns[::100], own.time_ns[::100])
    with pytest.raises(NotComparedError, match="there were 0 turns of both"):
        bench_sockperf.compared(few, turns[0], peer, turns[1])


def test_a_log_without_round_trips_is_said() -> None:
    with pytest.raises(NotComparedError, match="no round trips"):
        bench_sockperf.trips_of(bench_sockperf._OURS, b"sockperf: ERROR\n")


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_sockperf.shutil, "which", lambda name: None)
    said = bench_sockperf.against_sockperf(tmp_path)
    assert said.startswith("not measurable here: sockperf is not on PATH; ")
    monkeypatch.setattr(bench_sockperf.shutil, "which", lambda name: "/usr/bin/true")
    assert "is not built; run `snakemake" in bench_sockperf.against_sockperf(tmp_path)
    about = tmp_path / bench_sockperf.BUILT / "variant.json"
    about.parent.mkdir(parents=True)
    about.write_text(json.dumps({"version": 1, "state": "ok", "binary": {"file": "b"}}))
    monkeypatch.setattr(bench_sockperf.topology, "pin_order", lambda topology: [0])
    assert "need a CPU each" in bench_sockperf.against_sockperf(tmp_path)


@pytest.mark.skipif(shutil.which("sockperf") is None, reason="sockperf is not here")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="both sides need a CPU each")
def test_two_programs_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_sockperf, "ROUND_TRIPS", 60_000)
    monkeypatch.setattr(bench_sockperf, "TURN_S", 0.01)
    root = tmp_path / "root"
    built = root / bench_sockperf.BUILT
    sources = sorted((KERNELS / "udp").glob("*.c"))
    built.mkdir(parents=True)
    kernels.build(built / "udp", *sources, flags=("-O2", "-DUDP_TAKE_SENDER"), common=("-O2",))
    about = {"version": 1, "state": "ok", "binary": {"file": "udp"}}
    (built / "variant.json").write_text(json.dumps(about))
    for _ in range(3):  # beside all the other tests
        said = bench_sockperf.against_sockperf(root)
        if "not measurable here" not in said:
            break
    if re.search("network|run again|turns of both", said):  # that is the machine's say
        pytest.skip(said)
    found = re.fullmatch(r"(\d+\.\d+) \[(\d+\.\d+), (\d+\.\d+)\], (\d+) turns", said)
    assert found, said
    ratio, low, high = map(float, found.groups()[:3])
    assert 0 < low <= ratio <= high
    assert int(found[4]) >= bench_sockperf.LEAST_TURNS

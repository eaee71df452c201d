"""The peer of system calls: what it prints, what it is asked for, and that it moves no bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from made_up import SIZES

from benchbook.analyse.peer_agreement import agreement
from benchbook.define import catalogue
from benchbook.define.points import Point, expand
from benchbook.peers.matching import matched
from benchbook.peers.parsers import Measured, NotUnderstoodError, perf_bench
from benchbook.peers.start import prepare, read

TEXT = (Path(__file__).parent / "peer_outputs/perf-bench-6.1.txt").read_text()
CALLS = 30_000
CALL = {"call": "getppid-libc", "method": "batch"}
COUNTS = {"loops": 145, "samples": 200, "warmup": 1000}


def test_all_calls_are_one_sample() -> None:
    assert perf_bench.parse(TEXT) == Measured([16_243_000], 0, loops=CALLS)
    # Later versions set thousands apart.
    assert perf_bench.parse(TEXT.replace("30000", "30,000")) == perf_bench.parse(TEXT)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("# Executed", "# Did", "how many calls"),
        ("usecs/op", "nsecs/op", "no line of usecs/op"),
        ("0.541433", "nan", "no time of any call"),
        ("0.541433", "0.000000", "no time of any call"),
        ("0.541433", "fast", "no time of any call"),
        ("30000", "0", "no time of any call"),
    ],
)
def test_what_says_something_else_is_not_understood(old: str, new: str, reason: str) -> None:
    with pytest.raises(NotUnderstoodError, match=reason):
        perf_bench.parse(TEXT.replace(old, new))


def test_it_is_asked_for_as_many_calls_as_ours_makes() -> None:
    spec = catalogue.definition(ROOT, "syscall")["variants"]["perf-bench"]["peer"]
    start = prepare(spec, CALL, COUNTS)
    assert start.arguments == ("bench", "syscall", "basic", "--loop", str(CALLS))
    assert start.declared_bytes == 0
    assert read(start, TEXT, [0]).loops == CALLS
    with pytest.raises(NotUnderstoodError, match="did 30000 repetitions of the 145"):
        read(prepare(spec, CALL, {"loops": 145, "samples": 1, "warmup": 0}), TEXT, [0])


def test_it_measures_one_call_and_says_why_no_other() -> None:
    content = catalogue.definition(ROOT, "syscall")
    points, _ = expand(content, catalogue.crosses(content, "quick"), SIZES)
    theirs, rows = matched(content, points)
    assert [point.factors for point in theirs] == [CALL]
    others = [row["reason"] for row in rows if row["peer_point"] is None]
    assert others
    assert all(others)


def test_what_moves_nothing_agrees_in_time() -> None:
    ours = Point("gcc-O2", CALL)
    row = {"peer": "perf-bench", "twin": "gcc-O2", "point": ours.id, "peer_point": None}
    known = [{"point": ours.id, "factors": CALL, "state": "ok", "time_ns": 130.0}]
    (found,) = agreement([{**row, "reason": "why"}], known, None, [])  # type: ignore[arg-type]
    assert found["quantity"] == "time"
    assert found["rows"][0]["our_ns"] == 130.0

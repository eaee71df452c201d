"""Samples of several processes on their way from the program's lines to one row per invocation."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from conftest import ROOT

from benchbook.analyse import disturbances, tables
from benchbook.analyse import stage as analyse_stage
from benchbook.core.files import write_json
from benchbook.define.points import Point
from benchbook.define.settings import load_settings
from benchbook.measure import disturbance
from benchbook.measure.invocation import PointResult, Request, Result, read_output
from benchbook.measure.starter import Starter
from benchbook.records import journal

POINT = Point("v", {"bytes": 1000, "method": "copy", "processes": 2, "schedule": "apart"})
THRESHOLDS = {"run_delay_fraction": 0.05, "run_delay_least_ns": 0, "steal_fraction": 0.02}


def output(times: list[list[int]], declared: int = 1000) -> str:
    """What a kernel prints for one point: times of each process, the first of each a warm-up."""
    lines = [
        {"kind": "sample", "point": 0, "sample": number, "warm_up": number == 0,
         "t_start_ns": 100 * number + process, "time_ns": time}
        | ({"process": process} if process else {})
        for process, row in enumerate(times)
        for number, time in enumerate(row)
    ]  # fmt: skip
    point = {"kind": "point", "point": 0, "status": "ok", "reason": "", "loops": 1,
             "bytes_declared": declared, "observations": {"processes": len(times)},
             "usage": {"run_delay_ns": 30, "wall_ns": 500}}  # fmt: skip
    return "".join(json.dumps({"version": 1, **line}) + "\n" for line in [*lines, point])


def outcome(times: list[list[int]]) -> PointResult:
    (only,) = read_output(output(times), 1)[1]
    assert only is not None
    return only


def measured(folder: Path, *outcomes: PointResult) -> Path:
    """A complete run with one block per outcome of POINT; its pointer."""
    run = folder / "run"
    run.mkdir()
    starter = Starter(None, run, ["bytes"], lambda point: Path("true"), None)
    request = Request(Path("true"), {}, [], cpus=[0, 1])
    for block, process in enumerate(outcomes):
        result = Result([process], {}, 10, 0, 10, None, None)
        journal.append(
            run / journal.JOURNAL,
            [
                {"kind": "block", "block": block, "t_block_ns": 0},
                *starter.lines(block, 0, [POINT], request, result),
                {"kind": "block_end", "block": block, "disturbed": [], "t_end_ns": 9},
            ],
        )
    point = POINT.record()
    write_json(run / journal.PLAN, {"version": 1, "points": [point]})
    write_json(run / journal.MANIFEST, {"version": 1})
    pointer = folder / "current.json"
    write_json(pointer, {"version": 1, "run": "r", "experiment": "mbw", "folder": str(run)})
    return pointer


def test_two_processes_at_one_and_three_gb_per_s_are_one_row_at_four(tmp_path: Path) -> None:
    pointer = measured(tmp_path, outcome([[9, 1000, 1000], [9, 400, 250]]))
    assert tables.write_samples(pointer, tmp_path / "samples.parquet") == 6
    rows = pq.read_table(tmp_path / "samples.parquet").to_pandas()
    assert rows["process"].tolist() == [0, 0, 0, 1, 1, 1]
    assert rows["sample"].tolist() == [0, 1, 2, 0, 1, 2]
    assert rows["warm_up"].tolist() == [True, False, False] * 2
    assert rows["rate_bytes_per_s"].tolist()[4] == pytest.approx(2.5e9)

    summaries, inside = analyse_stage.summarise(tmp_path / "samples.parquet", paper_samples=2)
    (row,) = summaries.to_dict("records")
    mean = tables.rate(row["bytes_declared"], row["paper_mean_ns"])
    assert mean == pytest.approx(1e9 + 1000 / 325 * 1e9)
    best = tables.rate(row["bytes_declared"], row["best_ns"])
    assert best == pytest.approx(5e9)
    assert (row["samples"], row["t_start_ns"], row["t_end_ns"]) == (4, 0, 1200)
    assert set(inside) == {POINT.id}


def test_one_process_leaves_no_trace_in_the_journal(tmp_path: Path) -> None:
    pointer = measured(tmp_path, outcome([[9, 10, 20]]), outcome([[9, 30, 40]]))
    (first, _) = [
        line
        for line in journal.read_lines(tmp_path / "run" / journal.JOURNAL)
        if line["kind"] == "invocation"
    ]
    assert "process" not in first
    assert first["warm_up"] == 1
    tables.write_samples(pointer, tmp_path / "samples.parquet")
    assert pd.read_parquet(tmp_path / "samples.parquet")["process"].tolist() == [0] * 6


def test_warm_ups_and_processes_are_counted() -> None:
    both = outcome([[9, 10, 20], [9, 30, 40]])
    assert (both.warm_up, both.processes, both.process) == (1, 2, [0, 0, 0, 1, 1, 1])
    one = outcome([[9, 10]])
    assert (one.warm_up, one.processes, one.process) == (1, 1, [])


def reasons_of(cpus: int, delay_ns: int, processes: int = 2, least_ns: int = 0) -> list[str]:
    usage = {"run_delay_ns": delay_ns, "wall_ns": 1000}
    point = Point("v", {"processes": processes} if processes > 1 else {})
    result = Result([PointResult("ok", usage=usage)], {}, 10, 0, 10, None, None)
    changes = {**THRESHOLDS, "run_delay_least_ns": least_ns}
    thresholds = load_settings(ROOT, {}).disturbed.model_copy(update=changes)
    return disturbance.of_result([point], result, cpus, thresholds)


def test_waiting_for_a_cpu_disturbs_unless_processes_must_take_turns() -> None:
    assert reasons_of(cpus=2, delay_ns=90) == []  # 45 ns each
    assert "10.0%" in reasons_of(cpus=2, delay_ns=200)[0]
    assert reasons_of(cpus=1, delay_ns=900) == []
    assert reasons_of(cpus=1, delay_ns=200, processes=1) != []


def test_what_ran_all_the_time_did_not_wait() -> None:
    """Linux books a wait when it ends: one of 3 ms stood in a point of 1.2 ms, spent on its CPU."""

    def waited_ns(count: int, delay_ns: float, on_cpu_ns: float | None) -> float | None:
        usage = {"run_delay_ns": delay_ns, "wall_ns": 1000, "on_cpu_ns": on_cpu_ns}
        return disturbance.run_delay_ns(usage, count, cpus=2)

    assert waited_ns(1, 2500, 990) == 10
    assert waited_ns(2, 400, 1500) == 200  # both waited for a part of the time
    assert waited_ns(2, 400, 2010) == 0
    assert waited_ns(1, 400, None) == 400
    assert waited_ns(1, 400, 300) == 400  # and slept


def test_waits_of_a_moment_disturb_nothing() -> None:
    assert reasons_of(cpus=1, delay_ns=200, processes=1, least_ns=200) == []
    assert reasons_of(cpus=1, delay_ns=201, processes=1, least_ns=200) != []


def test_the_machines_page_judges_waiting_alike(tmp_path: Path) -> None:
    measured(tmp_path, outcome([[9, 10], [9, 10]]), outcome([[9, 10]] * 3))
    plan = {"settings": {"disturbed": THRESHOLDS}}
    two, three = disturbances.noise(tmp_path / "run", plan)["starts"]
    assert two["run_delay_fraction"] == pytest.approx(30 / 2 / 500)
    assert three["run_delay_fraction"] is None  # more than the two CPUs
    limits = {"run_delay_fraction": 0.02, "run_delay_least_ns": 0}
    for least_ns, share in ((0, 15 / 500), (20, 0.0)):
        plan = {"settings": {"disturbed": {**limits, "run_delay_least_ns": least_ns}}}
        waited = disturbances.waits(tmp_path / "run", plan)
        assert waited["waited_fraction"].tolist() == pytest.approx([share, 0.0])

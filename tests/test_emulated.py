"""From a kernel's observation to state `simulated`, and to a page that draws it otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchbook.analyse import stage as analyse_stage
from benchbook.analyse import tables
from benchbook.core.files import write_json
from benchbook.judge import settle_runs
from benchbook.records import journal

SAYS = "a model stands for the device"
EMULATION = {"observation": "models", "says": SAYS}
SAMPLES = 4


def line(block: int, point: str, observations: dict[str, Any], state: str = "ok") -> dict[str, Any]:
    """One invocation of one point, in which a call declares no bytes."""
    return {
        "kind": "invocation",
        "block": block,
        "invocation": 0,
        "point": point,
        "state": state,
        "reason": "",
        "warm_up": 1,
        "loops": 1,
        "bytes_declared": 0,
        "t_start_ns": [100 * k for k in range(SAMPLES)],
        "time_ns": [10 + k for k in range(SAMPLES)],
        "observations": observations,
    }


def run_of(folder: Path, emulation: dict[str, str] | None = EMULATION) -> Path:
    """A complete run of a real point and an emulated one, whose third block was interrupted; its
    pointer."""
    run = folder / "run"
    run.mkdir()
    seen = {"real": {"models": 0}, "model": {"models": 2}, "silent": {}}
    for block in range(3):
        lines = [line(block, name, record) for name, record in seen.items()]
        ended = [{"kind": "block_end", "block": block, "disturbed": []}] if block < 2 else []
        head = {"kind": "block", "block": block, "t_block_ns": 0}
        journal.append(run / journal.JOURNAL, [head, *lines, *ended])
    failed = line(1, "model", seen["model"], "failed") | {"invocation": 1}
    journal.append(run / journal.JOURNAL, [failed])
    points = [
        {"id": name, "variant": "v", "twin": "", "factors": {"method": name}} for name in seen
    ]
    plan = {"version": 1, "experiment": "e", "points": points, "paper_samples": 1000}
    write_json(run / journal.PLAN, plan | {"emulation": emulation})
    write_json(run / journal.MANIFEST, {"version": 1})
    pointer = folder / "current.json"
    write_json(pointer, {"version": 1, "run": "r", "experiment": "e", "folder": str(run)})
    return pointer


def test_samples_of_what_emulates_are_simulated(tmp_path: Path) -> None:
    tables.write_samples(run_of(tmp_path), tmp_path / "samples.parquet")
    rows = pd.read_parquet(tmp_path / "samples.parquet")
    states = {name: own["state"].drop_duplicates().tolist() for name, own in rows.groupby("point")}
    assert states == {
        "real": ["ok", "abandoned"],
        "silent": ["ok", "abandoned"],
        "model": ["simulated", "abandoned", "void"],
    }
    assert len(rows) == 10 * SAMPLES


def test_simulated_samples_are_summarised_and_told_apart(tmp_path: Path) -> None:
    tables.write_samples(run_of(tmp_path), tmp_path / "samples.parquet")
    summaries, _ = analyse_stage.summarise(tmp_path / "samples.parquet", paper_samples=1000)
    assert summaries.groupby("point")["simulated"].all().to_dict() == {
        "real": False,
        "silent": False,
        "model": True,
    }
    assert len(summaries) == 6
    summaries["machine_state"] = "1"
    described = {
        name: analyse_stage.describe(
            {"id": name, "variant": "v", "twin": "", "factors": {}}, summaries, {}, {}, "mean", SAYS
        )
        for name in ("real", "model")
    }
    assert described["real"]["emulates"] == ""
    assert described["model"]["emulates"] == SAYS
    # Of the samples that there are, and of how many, where the paper has more.
    assert described["real"]["paper_ns"] == pytest.approx(12)
    assert described["real"]["paper_samples"] == SAMPLES - 1
    assert described["real"]["rate_bytes_per_s"] is None


def test_without_a_rule_nothing_is_simulated(tmp_path: Path) -> None:
    tables.write_samples(run_of(tmp_path, None), tmp_path / "samples.parquet")
    states = set(pd.read_parquet(tmp_path / "samples.parquet")["state"])
    assert states == {"ok", "abandoned", "void"}


def test_a_run_that_settles_knows_what_emulates(tmp_path: Path) -> None:
    pointer = run_of(tmp_path)
    known = settle_runs.measured(tmp_path / "run").known
    assert {name: entry["emulates"] for name, entry in known.items()} == {
        "real": "",
        "model": SAYS,
        "silent": "",
    }
    assert pointer.exists()

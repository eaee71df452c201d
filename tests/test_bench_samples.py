"""Runs of many samples for make bench: sound, as large as wanted, and costs that are told."""

from __future__ import annotations

import sys
from contextlib import chdir
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.commands import bench_samples
from benchbook.core.parquet import read_parquet
from benchbook.judge.recorded_analysis import make_table
from benchbook.records import seal

MODEL = next(iter(sorted(ROOT.glob(bench_samples.MODEL))))


@pytest.mark.parametrize("amount", [560, 700_000])
def test_an_enlarged_run_is_sound_and_has_as_many_samples(tmp_path: Path, amount: int) -> None:
    run = bench_samples.enlarged(MODEL, tmp_path / "run", amount)
    assert seal.verify(run)
    assert (run / "samples").exists() == (amount > 10_000 * 56)  # behind which they are binary
    with chdir(ROOT):
        make_table(run, tmp_path / "table")
    table = read_parquet(tmp_path / "table/samples.parquet")
    assert (~table["warm_up"]).sum() == amount
    assert table["time_ns"].min() > 0


def test_a_stage_that_fails_says_so(tmp_path: Path) -> None:
    cost = bench_samples.cost_of("stage", ["false"], tmp_path)
    assert str(cost).startswith("failed after")
    grow = [sys.executable, "-c", "b = bytearray(300 * 2**20)"]
    assert bench_samples.cost_of("stage", grow, tmp_path).memory_bytes > 300 * 2**20


def test_another_number_of_samples_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(bench_samples.MORE, raising=False)
    assert bench_samples.decades() == (10**5, 10**6, 10**7)
    monkeypatch.setenv(bench_samples.MORE, "100000000")
    assert bench_samples.decades() == (10**8,)


def test_without_a_recorded_run_there_is_nothing_to_enlarge(tmp_path: Path) -> None:
    assert list(bench_samples.by_samples(tmp_path, (10,))) == []

"""Damaged files of runs and results."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROOT

from benchbook.analyse import disturbances, stage, tables
from benchbook.core.errors import BenchbookError
from benchbook.core.files import Record, read_json, write_json
from benchbook.core.parquet import read_parquet
from benchbook.detect.inputs.run_table import starts_of_run
from benchbook.records import journal

RECORDED = next(iter(sorted(ROOT.glob("data/recorded/*/mbw/*/plan.json")))).parent
LINES = {
    name: (RECORDED / name).read_bytes().splitlines(True)
    for name in (journal.JOURNAL, journal.PROBES)
}
ODD = {
    "a number": b"5",
    "null": b"null",
    "a list": b"[]",
    "text": b'"x"',
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 100_000,
    "not UTF-8": b'{"version": 1, "kind": "\xff"}',
    "no kind": b'{"version": 1, "block": 0}',
    "no version": b'{"kind": "block"}',
    "huge number": b'{"version": 1, "kind": "block", "block": 1' + b"0" * 5000 + b"}",
    "cut": b'{"version": 1, "kind": "blo',
}


def read_all(run: Path) -> None:
    """Every reader of a run's files."""
    journal.progress(run)
    stage.failures(run)
    stage.machine_states(run)
    starts_of_run(run)
    disturbances.noise(run, read_json(RECORDED / journal.PLAN))
    pointer = run.parent / "pointer.json"
    write_json(pointer, {"version": 1, "experiment": "mbw", "run": run.name, "folder": str(run)})
    tables.write_samples(pointer, run.parent / "samples.parquet")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run without checksums, as those of before."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name, lines in LINES.items():
        (folder / name).write_bytes(b"".join(lines))
    for name in (journal.PLAN, journal.MANIFEST):
        (folder / name).write_bytes((RECORDED / name).read_bytes())
    return folder


def refusal(run: Path) -> str:
    with pytest.raises(BenchbookError) as refused:
        read_all(run)
    text = str(refused.value)
    assert "\n" not in text
    assert len(text) < 1000
    return text


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("odd", ODD)
def test_a_line_of_another_kind(run: Path, odd: str, name: str) -> None:
    """A line of a journal is a number, null, 100,000 brackets, or an object without its kind: it is
    refused by file and line, with what to remove."""
    lines = LINES[name]
    (run / name).write_bytes(b"".join([*lines[:4], ODD[odd] + b"\n", *lines[4:]]))
    text = refusal(run)
    assert f"{name}: line 5" in text
    assert "move this run folder away" in text or odd == "no version"


def flip_key(record: dict[str, Any], dice: random.Random) -> None:
    """The last letter of a key becomes another one."""
    key = dice.choice([key for key in record if key != "version"])
    record[f"{key[:-1]}{chr(ord(key[-1]) ^ 1)}"] = record.pop(key)


def change_kind(record: dict[str, Any], dice: random.Random) -> None:
    """A value becomes one of another kind."""
    key = dice.choice([key for key in record if key != "version"])
    record[key] = dice.choice(["x", [], ["x"], {}, [[1], [2]], None, 1.5, -1])


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("harm", [flip_key, change_kind])
@pytest.mark.parametrize("tries", [10, pytest.param(400, marks=pytest.mark.long)])
def test_a_key_or_a_value_of_another_kind(
    run: Path,
    name: str,
    harm: Callable[[dict[str, Any], random.Random], None],
    tries: int,
    record_property: Callable[[str, int], None],
) -> None:
    """A letter of a key in a journal is flipped, or a value becomes text, a list, null or a
    fraction: the run is read without it, or refused by file and line; there is no traceback."""
    dice = random.Random(tries)
    record_property("tried", tries)
    for _ in range(tries):
        lines = list(LINES[name])
        place = dice.randrange(len(lines))
        record = json.loads(lines[place])
        harm(record, dice)
        lines[place] = json.dumps(record).encode() + b"\n"
        (run / name).write_bytes(b"".join(lines))
        try:
            read_all(run)
        except BenchbookError as error:
            assert str(run) in str(error)


@pytest.mark.parametrize("text", ["[" * 100_000, "5", "null", '{"version": 1', "\x00", "{}", '"x"'])
def test_json_of_another_kind(tmp_path: Path, text: str) -> None:
    """A JSON file of results is cut, a number or brackets: it is refused by name, with what to
    do."""
    path = tmp_path / "analysis.json"
    path.write_text(text)
    with pytest.raises(BenchbookError, match=r"analysis\.json: "):
        read_json(path)


def test_a_key_that_results_lack(tmp_path: Path) -> None:
    """A key of a JSON file is gone: whoever asks for it says the file and the key."""
    path = tmp_path / "analysis.json"
    write_json(path, {"version": 1})
    with pytest.raises(BenchbookError, match=r"analysis\.json lacks 'points'; remove it"):
        read_json(path)["points"]
    assert isinstance(read_json(path), Record)


@pytest.mark.parametrize("cut", [0, 3, 50, -8, -1])
def test_cut_tables(tmp_path: Path, cut: int) -> None:
    """A Parquet file is cut or has its bytes exchanged: every reader refuses it by name, with what
    to do."""
    path = tmp_path / "samples.parquet"
    pd.DataFrame({"point": ["a"] * 1000, "state": "ok", "time_ns": range(1000)}).to_parquet(path)
    content = path.read_bytes()
    for damaged in (content[:cut], content[:cut] + bytes(len(content) - len(content[:cut]))):
        path.write_bytes(damaged)
        for read in (
            read_parquet,
            tables.invocation_spans,
            lambda path: list(tables.calls_in_parts(path)),
            lambda path: tables.merge_samples([path], path.with_name("all.parquet")),
        ):
            with pytest.raises(BenchbookError, match=r"samples\.parquet: .*remove it and run"):
                read(path)

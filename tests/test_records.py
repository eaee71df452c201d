"""The journal: torn lines, resume, large sample arrays, unknown versions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchbook.core.errors import BenchbookError
from benchbook.records import journal


def write(path: Path, *lines: dict) -> None:
    journal.append(path, list(lines))


def test_lines_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, {"kind": "block", "block": 0, "order": [["a", "b"]]}, {"kind": "x", "text": "é"})
    assert [line["kind"] for line in journal.read_lines(path)] == ["block", "x"]
    assert all(line["version"] == 1 for line in journal.read_lines(path))


def test_torn_last_line_is_cut_and_the_rest_untouched(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, {"kind": "block", "block": 0})
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"version": 1, "kind": "invo')
    assert [line["kind"] for line in journal.read_lines(path)] == ["block"]
    assert journal.repair(path) == 28
    assert path.read_bytes() == whole
    assert journal.repair(path) == 0


def test_damage_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"version": 1, "kind": "block"\n{"version": 1, "kind": "block"}\n')
    with pytest.raises(BenchbookError, match="line 1 is damaged"):
        list(journal.read_lines(path))


def test_unknown_version_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"version": 99, "kind": "block"}\n')
    with pytest.raises(BenchbookError, match="format version 99"):
        list(journal.read_lines(path))


def test_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "journal.jsonl", {"kind": "x", "value": float("nan")})


@pytest.mark.parametrize("count", [3, journal.INLINE_SAMPLES, journal.INLINE_SAMPLES + 1])
def test_samples_survive_inline_and_in_a_file(tmp_path: Path, count: int) -> None:
    starts = list(range(10**15, 10**15 + count))
    times = [7] * count
    for process in ([], [0] * (count - 1) + [1]):
        stored = journal.store_samples(tmp_path, starts, times, process)
        assert ("samples_file" in stored) == (count > journal.INLINE_SAMPLES)
        assert "process" not in stored or process
        back = journal.load_samples(tmp_path, json.loads(json.dumps(stored)))
        assert np.array_equal(back.t_start_ns, starts)
        assert np.array_equal(back.time_ns, times)
        assert np.array_equal(back.process, process or [0] * count)


def test_journals_from_before_there_were_processes_are_read(tmp_path: Path) -> None:
    inline = journal.load_samples(tmp_path, {"t_start_ns": [5, 6], "time_ns": [1, 2]})
    assert inline.process.tolist() == [0, 0]
    assert journal.load_samples(tmp_path, {}).time_ns.tolist() == []


def test_changed_sample_file_is_found_out(tmp_path: Path) -> None:
    stored = journal.store_samples(tmp_path, [1] * 20_000, [2] * 20_000)
    path = tmp_path / stored["samples_file"]
    path.write_bytes(path.read_bytes()[:-8] + b"\x09" * 8)
    with pytest.raises(BenchbookError, match="checksum"):
        journal.load_samples(tmp_path, stored)


def test_progress_knows_complete_open_and_abandoned_blocks(tmp_path: Path) -> None:
    write(
        tmp_path / journal.JOURNAL,
        {"kind": "pilot", "points": {}, "failed": {}, "block_ns": 1, "wall_ns": 5},
        {"kind": "block", "block": 0},
        {"kind": "invocation", "block": 0, "share_ns": 10, "t_end_ns": 100},
        {"kind": "block_end", "block": 0, "disturbed": []},
        {"kind": "block", "block": 1},
        {"kind": "abandoned", "block": 1, "gap_ns": 3},
        {"kind": "block", "block": 2},
        {"kind": "block_end", "block": 2, "disturbed": ["steal"], "t_end_ns": 200},
        {"kind": "block", "block": 3},
    )
    done = journal.progress(tmp_path)
    assert (done.complete, done.abandoned, done.disturbed) == ([0, 2], [1], [2])
    assert done.open_block == 3
    assert done.spent_ns == 15
    assert done.last_ns == 200


def test_runs_are_found_by_fingerprint(tmp_path: Path) -> None:
    plan = {"version": 1, "fingerprint": "ab" * 32}
    first, second = journal.new_run(tmp_path, plan), journal.new_run(tmp_path, plan)
    journal.new_run(tmp_path, {"version": 1, "fingerprint": "cd" * 32})
    (first / journal.MANIFEST).write_text('{"version": 1}')
    complete, partial = journal.runs_with(tmp_path, "ab" * 32, print)
    assert (complete, partial) == ([first], [second])


def test_unreadable_neighbours_are_passed_over_and_named(tmp_path: Path) -> None:
    plan = {"version": 1, "fingerprint": "ab" * 32}
    good, torn = journal.new_run(tmp_path, plan), journal.new_run(tmp_path, plan)
    (torn / journal.MANIFEST).write_text("")
    for name, text in (("a", ""), ("b", '{"version": 99}'), ("c", '{"version": 1}'), ("d", "[1]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / journal.PLAN).write_text(text)
    said: list[str] = []
    complete, partial = journal.runs_with(tmp_path, "ab" * 32, said.append)
    assert (complete, partial) == ([], [good])
    assert len(said) == 4
    assert all(line.startswith("passing over") for line in said)


def test_a_reading_without_a_round_trip_is_read(tmp_path: Path) -> None:
    """A busy machine gives a pair of CPUs no time for one: its probe says null."""
    path = tmp_path / "probes.jsonl"
    write(path, {"kind": "pair", "a": 1, "b": 0, "round_trips": 0, "round_trip_ns": None})
    assert [line["round_trip_ns"] for line in journal.read_lines(path)] == [None]

"""Complete runs that are not what was measured."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_run import MadeUp, Quiet, planned

from benchbook.analyse.bare_run import read_bare_run
from benchbook.analyse.tables import write_samples
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.judge import settle_runs
from benchbook.measure import stage
from benchbook.measure.loop import Run
from benchbook.records import journal, seal
from benchbook.report import wording

DICE = random.Random(35)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run of made-up times, with one sample file."""
    plan = planned()
    run = journal.new_run(tmp_path_factory.mktemp("runs"), stage.plan_record(plan))
    starter = MadeUp(plan, run, ["bytes"], lambda point: Path("/bin/true"), None)
    Run(run, plan, starter, Quiet(), 7, lambda *words: None).measure()
    journal.append(run / journal.PROBES, [{"kind": "work", "cpu": 0}])
    stored = journal.store_samples(run, [1] * 20_000, [2] * 20_000)
    assert "samples_file" in stored
    manifest = read_json(run / journal.MANIFEST)
    write_json(run / journal.MANIFEST, manifest | {seal.FILES: seal.sums(run)})
    return run


@pytest.fixture
def run(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / sound.name)


def pointer_to(run: Path) -> Path:
    path = run.parent / "current.json"
    write_json(path, {"version": 1, "experiment": "mbw", "run": run.name, "folder": str(run)})
    return path


def change_digit(path: Path) -> None:
    """One digit of a time, the length as before."""
    content = bytearray(path.read_bytes())
    place = content.index(b'"time_ns": [') + len(b'"time_ns": [')
    content[place] = ord("1") + (content[place] - ord("1") + 1) % 9
    path.write_bytes(content)


def keep_lines(part: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    return lambda path: (
        path.write_bytes(b"".join(part(path.read_bytes().splitlines(True)))) and None
    )


DAMAGE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "journal emptied": (journal.JOURNAL, lambda path: path.write_bytes(b"") and None),
    "half of its lines": (journal.JOURNAL, keep_lines(lambda lines: lines[: len(lines) // 2])),
    "a line doubled": (journal.JOURNAL, keep_lines(lambda lines: [*lines, lines[-2]])),
    "two lines exchanged": (
        journal.JOURNAL,
        keep_lines(lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]]),
    ),
    "a digit changed": (journal.JOURNAL, change_digit),
    "journal gone": (journal.JOURNAL, Path.unlink),
    "probes emptied": (journal.PROBES, lambda path: path.write_bytes(b"") and None),
    "plan changed": (journal.PLAN, keep_lines(lambda lines: [*lines, b" "])),
    "manifest cut": (journal.MANIFEST, lambda path: os.truncate(path, 100)),
    "manifest of another kind": (
        journal.MANIFEST,
        lambda path: path.write_text('{"version": 1, "files": [7]}') and None,
    ),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_run_is_refused_by_name(run: Path, how: str) -> None:
    """A file of a complete run is emptied, cut, doubled or changed: every reader refuses the run
    by name and says what to do."""
    name, harm = DAMAGE[how]
    harm(run / name)
    for read in (read_bare_run, lambda run: write_samples(pointer_to(run), run.parent / "s")):
        with pytest.raises(BenchbookError) as refused:
            read(run)
        assert str(run) in str(refused.value)
        assert name in str(refused.value)
        assert "run again" in str(refused.value)


def test_a_sample_file_is_missed_or_found_changed(run: Path) -> None:
    """A sample file of a complete run is removed, cut or changed: the run is refused by name."""
    file = next(run.glob("samples/*.i64"))
    record = {"samples_file": f"samples/{file.name}", "samples": 20_000}
    whole = file.read_bytes()
    file.write_bytes(whole[:-8] + b"\x09" * 8)
    with pytest.raises(BenchbookError, match=file.name):
        journal.load_samples(run, record)
    for harm in (lambda: file.write_bytes(whole[:-8]), file.unlink):
        harm()
        with pytest.raises(seal.DamagedRunError, match=file.name):
            seal.verify(run)


@pytest.mark.parametrize("how", ["journal emptied", "half of its lines", "a line doubled"])
def test_runs_without_checksums_are_held_against_their_manifest(run: Path, how: str) -> None:
    """The same damage in a run of before checksums: its rounds do not match the manifest, and it
    is refused; undamaged it is read, and pages say "not sealed"."""
    manifest = read_json(run / journal.MANIFEST)
    del manifest[seal.FILES]
    write_json(run / journal.MANIFEST, manifest)
    assert seal.verify(run) is False
    assert write_samples(pointer_to(run), run.parent / "samples.parquet") > 0
    assert "not sealed" in wording.seal({})
    # The line that is doubled must be of an invocation to be noticed without checksums.
    lines = (run / journal.JOURNAL).read_bytes().splitlines(True)
    measured = next(line for line in lines if b'"invocation"' in line)
    if how == "a line doubled":
        (run / journal.JOURNAL).write_bytes(b"".join([*lines[:-1], measured, lines[-1]]))
    else:
        DAMAGE[how][1](run / journal.JOURNAL)
    with pytest.raises(seal.DamagedRunError, match=r"blocks|twice"):
        write_samples(pointer_to(run), run.parent / "samples.parquet")


def test_a_damaged_run_is_left_out_and_named(run: Path) -> None:
    """The newest run of a plan is damaged: the measuring stage takes another one or measures anew,
    and results and pages name the run that was left out."""
    plan = planned()
    newer = shutil.copytree(run, run.parent / "99991231T000000Z-newer")
    assert stage._complete(run.parent, plan, plan.settings) == (newer, [])
    change_digit(newer / journal.JOURNAL)
    chosen, left_out = stage._complete(run.parent, plan, plan.settings)
    assert chosen == run
    assert [damaged.run for damaged in left_out] == [newer.name]
    change_digit(run / journal.JOURNAL)
    chosen, left_out = stage._complete(run.parent, plan, plan.settings)
    assert chosen is None
    pointer = run.parent / "pointer.json"
    stage.write_pointer(run.parent, plan, plan.settings, {}, run, left_out, pointer)
    kept = read_json(pointer)["left_out"]
    assert {damaged["run"] for damaged in kept} == {run.name, newer.name}
    for sentence in wording.left_out({"left_out": kept}):
        assert "left out because it is damaged: journal.jsonl was changed" in sentence


def test_a_damaged_settling_run_decides_nothing(run: Path) -> None:
    """A run that settled a claim is damaged: it decides nothing, and the page names it."""
    settling = run.rename(run.with_name(f"{run.name}-settle"))
    assert settle_runs.damaged_runs(settling.parent) == []
    (settling / journal.JOURNAL).write_bytes(b"")
    (damaged,) = settle_runs.damaged_runs(settling.parent)
    assert damaged["run"] == settling.name


def test_single_bits(run: Path, record_property: Callable[[str, int], None]) -> None:
    """A single bit of journal, probes or plan is flipped: each is noticed."""
    bits = 200
    record_property("tried", bits)
    for _ in range(bits):
        path = run / DICE.choice(seal.WHOLE_FILES)
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[DICE.randrange(len(whole))] ^= 1 << DICE.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(seal.DamagedRunError, match=path.name):
            seal.verify(run)
        path.write_bytes(whole)
        assert seal.verify(run)


@pytest.mark.long
def test_many_samples_stay_fast(tmp_path: Path) -> None:
    """A run of 10^8 samples: it is verified within 2 s, and not again while it is unchanged."""
    run = tmp_path / "run"
    run.mkdir()
    (run / journal.PLAN).write_text("{}\n")
    (run / "samples").mkdir()
    many = np.arange(2 * 10**7, dtype="<i8").reshape(2, -1)
    for number in range(10):
        stored = journal.store_samples(run, (many[0] + number).tolist(), many[1].tolist())
        journal.append(run / journal.JOURNAL, [stored])
    write_json(run / journal.MANIFEST, {"version": 1, seal.FILES: seal.sums(run)})
    assert sum(json.loads(line)["samples"] for line in (run / journal.JOURNAL).open()) == 10**8
    seal._READ.clear()
    for limit_s in (2.0, 0.1):
        began = time.monotonic()
        assert seal.verify(run)
        assert time.monotonic() - began < limit_s

"""Arrays beyond memory: what became of the program is the result, and the limit is in force."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

import kernels
from benchbook.core.files import read_json, write_json
from benchbook.evidence import oversized_runs
from benchbook.evidence import stage as evidence_stage
from benchbook.host.memory import memory_available_bytes
from benchbook.records import journal

MIB = 2**20
FRACTION = 0.25
BIG = "char array[1ul << 42];\nint main(void) { return 0; }\n"
CONTENT = {
    "buffers": 2,
    "factors": {
        "bytes": {"unit": "bytes"},
        "call": {},
        "method": {},
        "threads": {},
    },
}
POINT = {"version": 1, "kind": "point", "point": 0, "loops": 1, "bytes_declared": 8}
POINT |= {"observations": {}, "usage": {}}


def tried(tmp_path: Path, trial: dict[str, Any] | None = None, **ways: Any) -> dict[str, Any]:
    """The row of one trial. `script` makes a program of shell commands, `program` is one."""
    folder = tmp_path / "build"
    folder.mkdir(exist_ok=True)
    if script := ways.get("script"):
        (folder / "program").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "program").chmod(0o755)
    elif program := ways.get("program"):
        (folder / "program").symlink_to(program)
    state = {"state": "ok", "reason": "", **ways.get("variant", {})}
    variant = {"version": 1, **state, "binary": {"file": "program"}}
    (folder / "variant.json").write_text(json.dumps(variant))
    plan = {
        "settings": {"memory_fraction": FRACTION, "time_limit_s": ways.get("time_limit_s", 120)},
        "sizes": {"cores": 2, "LLC": None},
        "cpus": sorted(os.sched_getaffinity(0))[:1],
    }
    asked = {"text": "t", "variant": "v", "options": {}, "point": {"method": "copy"}}
    content = {**CONTENT, "trials": [asked | (trial or {})]}
    (row,) = oversized_runs.try_all(
        content, {"experiment": "e", "variants": {"v": str(folder)}}, plan
    )
    assert (row["point"], row["experiment"]) == ("", "e")
    assert row["name"].startswith("trial: ")
    return row


def compiled(tmp_path: Path, source: str) -> Path:
    file = tmp_path / "made-up.c"
    file.write_text(source)
    return kernels.linked(tmp_path / "made-up", kernels.compiled(file))


@pytest.fixture(scope="module")
def copying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("k") / "mbw", kernels.KERNELS / "mbw" / "mbw.c")


def test_program_whose_arrays_exceed_the_limit_dies_when_loaded(tmp_path: Path) -> None:
    program = compiled(tmp_path, BIG)
    assert 2**42 < oversized_runs.image_bytes(program) < 2**42 + 100 * MIB
    row = tried(tmp_path, program=program)
    assert (row["outcome"], row["state"], row["signal"]) == ("failed", "ok", 11)
    assert (row["value"], row["unit"], row["exit_status"]) == (11, "signal", None)
    assert row["reason"].startswith("was ended by signal 11 (SIGSEGV); its file claims 4096.0 GiB")
    assert row["needed_bytes"] > 2**42 > row["limit_bytes"]
    assert not list(tmp_path.rglob("core*"))


def test_arrays_of_the_heap_beyond_memory_are_refused_by_the_kernel(
    tmp_path: Path, copying: Path
) -> None:
    trial = {"options": {"bytes": "2 x memory"}, "point": {"method": "copy", "call": "memcpy"}}
    row = tried(tmp_path, trial, program=copying)
    assert (row["outcome"], row["exit_status"], row["signal"]) == ("cannot_run", 77, None)
    assert (row["value"], row["unit"]) == (77, "exit status")
    assert "cannot be allocated (Cannot allocate memory)" in row["reason"]
    assert str(row["bytes"]) in row["reason"]
    assert row["bytes"] % MIB == 0
    assert row["bytes"] == pytest.approx(2 * row["memory_bytes"], abs=MIB)
    assert row["needed_bytes"] == 2 * row["bytes"]


def test_the_same_program_with_small_arrays_runs(tmp_path: Path, copying: Path) -> None:
    trial = {"options": {"bytes": "1 MiB"}, "point": {"method": "copy", "call": "memcpy"}}
    row = tried(tmp_path, trial, program=copying)
    assert (row["outcome"], row["value"]) == ("ok", 0)
    assert row["reason"] == "ran, and passed its check"
    assert row["command"][:3] == ["prlimit", f"--as={row['limit_bytes']}", "--core=0"]
    assert subprocess.run(row["command"], capture_output=True, check=False).returncode == 0


def test_limit_is_in_force_and_a_fraction_of_what_is_available(tmp_path: Path) -> None:
    row = tried(tmp_path, script="echo $(ulimit -v) $(ulimit -Hv) $(ulimit -c) >&2; exit 3")
    kib = row["limit_bytes"] // 1024
    assert row["reason"] == f"exit status 3: {kib} {kib} 0"
    assert row["outcome"] == "failed"
    assert row["limit_bytes"] == int(FRACTION * row["memory_bytes"])
    assert row["source"] == f"trial under a limit of {row['limit_bytes']} bytes of address space"
    available = memory_available_bytes().bytes
    assert row["memory_bytes"] == pytest.approx(available, rel=0.5)


def test_limit_in_force_already_is_never_raised(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64 * MIB, -1))
    row = tried(tmp_path, script="ulimit -v >&2; exit 1")
    assert row["reason"] == f"exit status 1: {64 * 1024}"


def test_program_that_hangs_is_ended_at_its_time_limit(tmp_path: Path) -> None:
    row = tried(tmp_path, script="exec sleep 60", time_limit_s=0.3)
    assert (row["outcome"], row["value"], row["signal"]) == ("timeout", None, None)
    assert row["reason"] == "did not end within its time limit of 0.3 s"


def test_failed_check_is_the_reason(tmp_path: Path) -> None:
    line = json.dumps({**POINT, "status": "fail", "reason": "element 3 is wrong"})
    row = tried(tmp_path, script=f"echo '{line}'; exit 1")
    assert (row["outcome"], row["value"], row["reason"]) == ("failed", 1, "element 3 is wrong")


def test_point_that_was_good_before_the_program_died_does_not_count(tmp_path: Path) -> None:
    line = json.dumps({**POINT, "status": "ok", "reason": ""})
    row = tried(tmp_path, script=f"echo '{line}'; kill -9 $$")
    assert (row["outcome"], row["signal"]) == ("failed", 9)
    assert row["reason"] == "was ended by signal 9 (SIGKILL)"


@pytest.mark.parametrize(
    ("trial", "ways", "reason"),
    [
        ({"variant": "w"}, {}, "variant 'w' was not built for this run"),
        ({}, {"variant": {"state": "failed", "reason": "gcc said no"}}, "gcc said no"),
        ({"options": {"bytes": "2 x LLC"}}, {}, "is unknown, and '2 x LLC' is given in it"),
    ],
)
def test_trial_that_cannot_be_made_is_absent(
    tmp_path: Path, trial: dict, ways: dict, reason: str
) -> None:
    row = tried(tmp_path, trial, script="exit 0", **ways)
    assert (row["state"], row["outcome"], row["value"]) == ("absent", "not_tried", None)
    assert reason in row["reason"]


def test_nothing_is_started_where_memory_or_the_limit_is_unknown(
    tmp_path: Path, monkeypatch
) -> None:
    script = f"touch {tmp_path}/started"
    monkeypatch.setattr(oversized_runs.shutil, "which", lambda _: None)
    assert "prlimit is not on PATH" in tried(tmp_path, script=script)["reason"]
    unknown = type("Unknown", (), {"bytes": None})
    monkeypatch.setattr(oversized_runs, "memory_available_bytes", unknown)
    assert "how much memory is available is unknown" in tried(tmp_path, script=script)["reason"]
    assert not (tmp_path / "started").exists()


def test_evidence_of_a_run_holds_its_trials_and_the_limits(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = tried(tmp_path, script="exit 3")
    about = {"experiment": "e", "variant": "v", "timed_functions": {}, "isa": []}
    unwrapped = {"state": "none", "dropped": [], "added": [], "decided_by": None, "reason": ""}
    about |= {"flags": [], "effective": [], "wrapper": unwrapped}
    variant = read_json(Path("build/variant.json"))
    write_json(Path("build/variant.json"), {**variant, **about})
    definition = {
        "version": 1,
        "question": "What happens?",
        "sources": ["e.c"],
        "factors": {name: {"text": "t", **factor} for name, factor in CONTENT["factors"].items()},
        "starts": ["bytes"],
        "definitions": {"copy": "it is copied"},
        "buffers": 2,
        "base": "v",
        "variants": {"v": {"compiler": "gcc"}},
        "paper_samples": 1,
        "points": {"tiny": [{"bytes": 64, "method": "copy"}]},
        "trials": [{"text": "t", "variant": "v", "options": {}, "point": {"method": "copy"}}],
    }
    write_json(Path("kernels/e/experiment.yaml"), definition)
    run = Path("run")
    settings = {"memory_fraction": FRACTION, "time_limit_s": 120}
    cpus = sorted(os.sched_getaffinity(0))[:1]
    plan = {"version": 1, "settings": settings, "sizes": {"cores": 1}, "cpus": cpus}
    write_json(run / journal.PLAN, plan)
    write_json(run / journal.MANIFEST, {"version": 1})
    (run / journal.JOURNAL).write_text("")
    pointer = {"version": 1, "experiment": "e", "folder": "run", "variants": {"v": "build"}}
    write_json(Path("current.json"), pointer)
    item = {"variant": "v", "outcome": "limited", "links_bytes": 5 * MIB, "reason": "r"}
    limits = {"version": 1, "experiment": "e", "define": "N", "arrays": 3, "most_bytes": 2**40}
    write_json(Path("limits.json"), {**limits, "items": [item]})
    evidence_stage.collect(Path("current.json"), [Path("limits.json")], Path("evidence.json"))
    items = read_json(Path("evidence.json"))["items"]
    limit = next(item for item in items if item["source"] == "compiler and linker")
    trial = next(item for item in items if item["name"].startswith("trial: "))
    assert (limit["name"], limit["value"]) == ("largest static array", 5 * MIB)
    assert trial.keys() == row.keys()
    assert (trial["name"], trial["value"]) == ("trial: t", 3)

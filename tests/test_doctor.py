"""`benchbook doctor`: what is there, what is not and its remedy; finding nothing is no failure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from benchbook.commands import doctor
from benchbook.commands.app import app
from benchbook.host import capabilities, tools


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds just gcc and a likwid-bench of no known version."""
    for name, said in (("gcc", "gcc (Made up) 99.1"), ("likwid-bench", "")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{said}'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(capabilities, "CACHE", tmp_path / "capabilities.json")
    for name in ("BENCHBOOK_DOOR", "BENCHBOOK_NIX_REVISION"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def asked(*words: str) -> str:
    done = CliRunner().invoke(app, ["doctor", *words])
    assert done.exit_code == 0, done.output
    return done.output


def items(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in found["items"]}


def test_facts_as_json(bare: Path) -> None:
    found = json.loads(asked("--json"))
    assert (found["version"], found["door"], found["nix_revision"]) == (1, "host", None)
    assert found["facts"]["usable_cores"] >= 1
    known = items(found)
    assert known["gcc"]["kind"] == "compiler"
    assert (known["gcc"]["version"], known["gcc"]["state"]) == ("gcc (Made up) 99.1", "ok")
    assert known["gcc"]["path"] == str(bare / "gcc")
    assert (
        known["clang"]["reason"]
        == "clang is not on PATH; install it (Debian: apt-get install clang libclang-rt-dev "
        "libomp-dev)"
    )
    assert known["objdump"]["reason"].endswith("apt-get install binutils)")
    assert known["objdump"]["remedy"].endswith("apt-get install binutils")
    assert known["mbw"] == known["mbw"] | {"kind": "peer", "state": "absent"}
    assert known["likwid-bench"]["path"] == str(bare / "likwid-bench")
    # perf is a program that ours is measured beside, and an ability.
    headed = {(item["kind"], item["name"]) for item in found["items"]}
    assert len(found["items"]) == len(headed)


def test_for_people_each_absent_program_has_its_remedy(bare: Path) -> None:
    text = asked()
    assert "door   host\n" in text
    assert re.search(r"\+ gcc +gcc \(Made up\) 99\.1", text)
    assert (
        "- objdump    objdump is not on PATH; install it (Debian: apt-get install binutils)" in text
    )
    assert "- mbw           mbw is not on PATH; install it (Debian: apt-get install mbw)" in text


def test_abilities_stand_beside_the_programs(bare: Path) -> None:
    """They are tried anew each time, and the remedy is a line of its own."""
    known = items(json.loads(asked("--json")))
    one = known["cachegrind"]
    assert (one["kind"], one["state"]) == ("ability", "absent")
    assert one["remedy"].removeprefix("sudo ") == "apt-get install valgrind"
    assert known["pinning"]["detail"]["cpus"]
    assert "valgrind" in known and known["valgrind"]["kind"] == "ability"
    assert (bare / "capabilities.json").exists()

    (bare / "valgrind").write_text("#!/bin/sh\necho valgrind-99\n")
    (bare / "valgrind").chmod(0o755)
    lines = asked().splitlines()
    assert "  + valgrind        valgrind-99" in lines
    absent = next(index for index, line in enumerate(lines) if line.startswith("  - mpi "))
    assert lines[absent].endswith("mpicc.mpich is not on PATH")
    remedy = lines[absent + 1].strip().replace("sudo ", "")
    assert remedy == "$ apt-get install libmpich-dev mpich"
    abilities = sum(line["kind"] == "ability" for line in known.values())
    assert f" of {abilities} abilities cannot be used here" in lines[-1]


def test_under_nix_the_revision_is_told_and_debian_is_not(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHBOOK_DOOR", "nix")
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "8fd9daa")
    text = asked()
    assert "door   nix, nixpkgs at 8fd9daa\n" in text
    assert "objdump is not on PATH; add it to the shell of flake.nix" in text
    assert "apt-get" not in text


def test_without_definitions_the_tools_are_still_looked_for(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = items(doctor.facts(Path()))
    assert known["gcc"]["kind"] == "tool"
    assert "mbw" not in known


def test_a_program_that_fails_has_no_version(tmp_path: Path) -> None:
    assert tools.version(str(tmp_path / "absent")) == ""


def test_the_table_can_be_read_by_a_shell() -> None:
    lines = tools.TABLE.read_text().splitlines()
    assert lines[0] == "program,package,for,purpose"
    for line in lines[1:]:
        assert line.count(",") == 3
        assert not set(line) & set("\"'\\$`")
    assert {who for tool in tools.table() for who in tool.wanted_by} <= {
        *("make", "test", "environment", "evidence", "points")
    }

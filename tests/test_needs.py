"""What a kernel needs beside its compiler: found, missing with a remedy, and stubs that fail."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, copy_checkout

from benchbook.build.stage import build_variant
from benchbook.define.catalogue import definition
from benchbook.host import link_libraries, tools
from benchbook.host.compilers import program_of

TRANSFER = ROOT / "kernels/rpc/transfer.x"
MATH: dict[str, Any] = {"header": "math.h", "package": "libc6-dev"}
NONE: dict[str, Any] = {"header": "none.h", "below": "nowhere", "package": "libnone-dev"}
COMPILERS = ["gcc", "clang"]


@pytest.fixture(autouse=True)
def on_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose remedies are Debian's."""
    monkeypatch.delenv("BENCHBOOK_DOOR", raising=False)


def with_path(monkeypatch: pytest.MonkeyPatch, folder: Path, **scripts: str) -> None:
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_library_is_where_the_compiler_looks(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    found = link_libraries.find({"libraries": {"m": MATH}}, [compiler])
    assert found == link_libraries.Needs([], ["-lm"])
    assert link_libraries.find({}, [compiler]) == link_libraries.Needs([], [])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_library_that_is_missing_is_named_with_its_package(compiler: str) -> None:
    found = link_libraries.find({"libraries": {"m": MATH, "none": NONE}}, [compiler])
    assert found.missing.startswith("the library none is not here (nowhere/none.h is in none of ")
    assert found.missing.endswith(tools.remedy("libnone-dev"))
    assert "libc6-dev" not in found.missing


def test_a_folder_of_headers_is_searched_without_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "include/below").mkdir(parents=True)
    (tmp_path / "include/below/one.h").touch()
    monkeypatch.setenv("C_INCLUDE_PATH", str(tmp_path / "include"))
    library = {"header": "one.h", "below": "below", "package": "libone-dev"}
    found = link_libraries.find({"libraries": {"one": library}}, ["gcc"])
    assert found == link_libraries.Needs(["-isystem", str(tmp_path / "include/below")], ["-lone"])


def test_what_was_found_tells_one_finding_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {"libraries": {"none": NONE}, "procedures": ["transfer.x"]}
    before = link_libraries.identity(content, program_of("gcc"))
    assert before[-1] == []
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere/none.h").touch()
    monkeypatch.setenv("C_INCLUDE_PATH", str(tmp_path))
    assert link_libraries.identity(content, program_of("gcc")) != before


def built(tmp_path: Path, root: Path = ROOT) -> dict[str, Any]:
    return build_variant(root, "rpc", "gcc-O2", tmp_path / "built/variant.json")


def test_without_rpcgen_the_points_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = shutil.which("gcc")
    with_path(monkeypatch, tmp_path / "bin", gcc=f'exec {gcc} "$@"')
    record = built(tmp_path)
    assert record["state"] == "cannot_run"
    assert record["reason"].startswith("rpcgen is not on PATH; install it (Debian: apt-get install")
    assert "rpcsvc-proto" in record["reason"]
    assert "binary" not in record


def test_without_the_library_the_points_cannot_run(tmp_path: Path) -> None:
    root = copy_checkout(tmp_path / "checkout")
    file = root / "kernels/rpc/experiment.yaml"
    file.write_text(file.read_text().replace("below: tirpc", "below: nowhere"))
    record = built(tmp_path, root)
    assert record["state"] == "cannot_run"
    if shutil.which(link_libraries.RPCGEN):
        assert record["reason"].startswith("the library tirpc is not here (nowhere/rpc/rpc.h ")
    assert record["reason"].endswith("apt-get install libtirpc-dev)")


def needed() -> None:
    """Skips a test where this host cannot build the experiment."""
    found = link_libraries.find(definition(ROOT, "rpc"), ["gcc"])
    if found.missing:
        pytest.skip(found.missing)


def test_twice_makes_the_same_binary(tmp_path: Path) -> None:
    """Neither stubs nor library bring in where or when they were made."""
    needed()
    first, second = (built(tmp_path / name) for name in ("first", "second"))
    assert first["state"] == "ok", first["reason"]
    assert first == second
    assert first["timed_functions"]["timed_call"]["library_calls"] == ["take_1"]


def test_a_file_of_rpc_that_is_wrong_is_a_failed_build(tmp_path: Path) -> None:
    needed()
    root = copy_checkout(tmp_path / "checkout")
    (root / "kernels/rpc/transfer.x").write_text("program TRANSFER {\n")
    record = built(tmp_path, root)
    assert record["state"] == "failed"
    assert record["reason"].startswith("rpcgen made nothing of transfer.x: ")
    assert "transfer.x, line " in record["reason"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "it said nothing"),
        ("echo what >&2; exit 1", "what"),
        ("exit 0", "it said nothing"),
    ],
)
def test_an_rpcgen_that_makes_nothing_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    with_path(monkeypatch, tmp_path / "bin", rpcgen=script)
    with pytest.raises(
        link_libraries.StubsFailedError, match=f"^rpcgen made nothing of transfer.x: {words}$"
    ):
        link_libraries.stubs(TRANSFER, tmp_path)

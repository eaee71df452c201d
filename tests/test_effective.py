"""What reached the compiler, and what wrappers of several kinds did on the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbook.build.effective_flags import Line, look, settled
from kernels import COMMON, KERNELS

SOURCE = KERNELS / "mbw/mbw.c"
WRAPPER = KERNELS / "controls/impure-flags/wrapper"
NATIVE = ["-std=gnu17", "-O3", "-march=native", "-fopenmp"]
COMPILERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is absent")
    )
    for name in ("gcc", "clang")
]


def path_of(compiler: str) -> str:
    found = shutil.which(compiler)
    assert found is not None
    return found


def seen(compiler: list[str], flags: list[str]) -> dict[str, Any]:
    record = look(Line(compiler, SOURCE, [f"-I{COMMON}"]), flags)
    assert str(KERNELS) not in " ".join(record["effective"])
    found: dict[str, Any] = record["wrapper"]
    return found


def script(folder: Path, text: str) -> list[str]:
    path = folder / "gcc"
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return [str(path)]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_a_compiler_makes_of_flags_by_itself_is_no_change(compiler: str) -> None:
    found = seen([path_of(compiler)], NATIVE)
    assert (found["state"], found["dropped"], found["added"]) == ("none", [], [])
    found = seen([str(WRAPPER), "off", path_of(compiler)], NATIVE)
    assert (found["state"], found["dropped"], found["added"]) == ("unchanged", [], [])
    assert Path(found["compiler"]).resolve() == Path(path_of(compiler)).resolve()


def test_a_wrapper_that_drops_and_adds_is_told_in_words_of_gcc() -> None:
    found = seen([str(WRAPPER), "on", path_of("gcc")], NATIVE)
    assert found["state"] == "changed"
    assert found["decided_by"] == "compiler"
    assert found["dropped"] == ["-march=native"]
    hardened = {"-D _FORTIFY_SOURCE=2", "-fstack-protector-strong", "-fPIC", "-fno-strict-overflow"}
    assert set(found["added"]) == hardened


def test_a_wrapper_is_told_in_words_of_clang() -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is absent")
    found = seen([str(WRAPPER), "on", path_of("clang")], NATIVE)
    assert "-march=native" in found["dropped"]
    assert {"-stack-protector 2", "-D _FORTIFY_SOURCE=2", "-fwrapv"} <= set(found["added"])
    assert not any("target" in flag for flag in found["added"])


def test_optimisation_that_nobody_asked_for_is_added() -> None:
    assert "-O2" in seen([str(WRAPPER), "on", path_of("gcc")], ["-std=gnu17"])["added"]


def test_flags_that_were_asked_for_anyway_are_no_change() -> None:
    asked = ["-O3", "-fPIC", "-fstack-protector-strong", "-fno-strict-overflow"]
    found = seen([str(WRAPPER), "on", path_of("gcc")], [*asked, "-D_FORTIFY_SOURCE=2"])
    assert found["state"] == "unchanged"


def test_the_last_of_contrary_flags_counts(tmp_path: Path) -> None:
    before = script(tmp_path, f'exec {path_of("gcc")} -O1 -fPIC "$@" -Wall -I/nowhere')
    assert seen(before, ["-O3", "-fno-pic"])["state"] == "unchanged"
    after = script(tmp_path, f'exec {path_of("gcc")} "$@" -O1 -fPIC')
    found = seen(after, ["-O3", "-fno-pic"])
    assert (found["dropped"], found["added"]) == (["-O3", "-fno-pic"], ["-O1", "-fPIC"])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_folders_of_headers_from_a_variable_are_no_flags(tmp_path: Path, compiler: str) -> None:
    """So the Nix shell's compilers find their libraries; clang makes -c-isystem of it."""
    wrapper = script(tmp_path, f'C_INCLUDE_PATH=/nowhere/include exec {path_of(compiler)} "$@"')
    assert seen(wrapper, NATIVE)["state"] == "unchanged"


def test_frame_pointers_that_a_wrapper_asks_for_are_added(tmp_path: Path) -> None:
    """What the compiler wrappers of nixpkgs do since 25.11."""
    flags = "-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"
    wrapper = script(tmp_path, f'exec {path_of("gcc")} {flags} "$@"')
    assert sorted(seen(wrapper, NATIVE)["added"]) == flags.split()


def test_a_default_that_a_wrapper_turns_off_is_dropped(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is absent")
    found = seen(script(tmp_path, f'exec {path_of("clang")} "$@" -fno-vectorize'), ["-O3"])
    assert (found["state"], found["dropped"]) == ("changed", ["-vectorize-loops"])


@pytest.mark.parametrize(
    "start",
    [
        'exec -a "$0" {gcc} -fPIC "${{kept[@]}}"',  # says that it is the compiler itself
        'PATH={folder} exec gcc -fPIC "${{kept[@]}}"',  # a name that leads back to the wrapper
    ],
)
def test_without_the_compilers_own_word_meaning_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    gcc = Path(path_of("gcc"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    kept = 'for one; do [ "$one" = -march=native ] || kept+=("$one"); done'
    wrapper = script(tmp_path, f"{kept}\n{start.format(gcc=gcc, folder=gcc.parent)}")
    found = seen(wrapper, NATIVE)
    assert (found["state"], found["decided_by"]) == ("changed", "meaning")
    assert (found["dropped"], found["added"]) == (["-march=native"], ["-fPIC"])
    as_asked = script(tmp_path, f'exec -a "$0" {gcc} "$@"')
    assert seen(as_asked, [*NATIVE, "-D_FORTIFY_SOURCE=2"])["state"] == "unchanged"


def test_a_compiler_that_does_not_tell_leaves_it_unknown(tmp_path: Path) -> None:
    found = seen(script(tmp_path, "echo nothing >&2"), NATIVE)
    assert found["state"] == "unknown"
    assert "does not show" in found["reason"]


def test_a_command_line_comes_to_its_last_words_on_code() -> None:
    line = (
        "cc1 -quiet -I /x -U F k.c -D F=2 -O2 -O3 -Wall -fno-pic -fPIE --param a=1 -frandom-seed=7"
    )
    assert settled(line.split(), Path("k.c")) == {
        "-DF": "-D F=2",
        "-O": "-O3",
        "-fpic": "-fPIE",
        "--param a": "--param a=1",
    }
    clang = "clang -cc1 -target-feature +avx -target-feature -avx -mllvm -x"
    assert settled(clang.split())["-target-feature avx"] == "-target-feature -avx"

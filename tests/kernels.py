"""Kernels for tests: compiled with warnings as errors, the same source and flags only once in a run
of all tests, linked with the harness and started.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
COMMON = KERNELS / "common"
ALWAYS = ("-std=gnu17", "-Wall", "-Wextra", "-Werror", f"-I{COMMON}")
LIMIT_S = 300  # nothing waits that long; a loaded machine may be slow
# Of what is killed two seconds are promised where CPUs are free; next to other work it takes more.
DEATH_LIMIT_S = 8.0
# What is compiled lies below it under its hash. Made and removed by the process that the user
# started: the workers of pytest-xdist inherit its path and share what each of them compiled.
_SHARED = "BENCHBOOK_TEST_KERNELS"
if _SHARED not in os.environ:
    _kept = tempfile.TemporaryDirectory(prefix="benchbook-kernels-")
    os.environ[_SHARED] = _kept.name


def compiled(source: Path, *flags: str, compiler: str = "gcc") -> Path:
    """The object of a C or assembler file. Skips the test where the compiler is not installed."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, *ALWAYS, *flags, "-c", str(source)]
    target = _place(command, source.read_bytes()) / f"{source.stem}.o"
    if not target.exists():
        _make(target, lambda draft: [*command, "-o", str(draft)])
    return target


def all_compiled(sources: Sequence[Path], *flags: str, compiler: str = "gcc") -> list[Path]:
    """The objects of several files, two compilers at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda source: compiled(source, *flags, compiler=compiler), sources))


def linked(
    target: Path,
    *objects: Path,
    flags: Sequence[str] = (),
    compiler: str = "gcc",
    libraries: Sequence[str] = (),
) -> Path:
    """A program made of objects and archives in this order, and of libraries."""
    files = [str(file) for file in objects]
    link = ["-Wl,--build-id=none", "-o", str(target), *libraries, "-lm", "-ldl", "-pthread"]
    _run([compiler, *flags, *files, *link])
    return target


def harness(*flags: str, compiler: str = "gcc") -> Path:
    """The harness as an archive: the probe, which has its own main, takes only what it calls."""
    objects = all_compiled(sorted(COMMON.glob("*.c")), *flags, compiler=compiler)
    command = ["ar", "rcsD", "libcommon.a", *map(str, objects)]
    target = _place(command, b"") / "libcommon.a"
    if not target.exists():
        _make(target, lambda draft: ["ar", "rcsD", str(draft), *map(str, objects)])
    return target


def build(
    target: Path,
    *sources: Path,
    flags: Sequence[str] = ("-O2",),
    common: Sequence[str] = ("-O2",),
    compiler: str = "gcc",
) -> Path:
    """A kernel as the build stage makes it: `flags` for its own files and the linker, `common` for
    the harness (sanitizers need theirs in both).
    """
    own = all_compiled(sources, *flags, compiler=compiler)
    library = harness(*common, compiler=compiler)
    return linked(target, *own, library, flags=flags, compiler=compiler)


def run(
    program: Path, *arguments: str, under: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Start a kernel, below another program where one is named."""
    command = [*under, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def lines(text: str) -> list[dict[str, Any]]:
    """The lines that a kernel printed; NaN and Infinity are no JSON."""
    printed = [json.loads(line, parse_constant=_refuse) for line in text.splitlines()]
    assert all(line["version"] == 1 for line in printed)
    return printed


def points(text: str) -> list[dict[str, Any]]:
    """The lines of kind `point`."""
    return [line for line in lines(text) if line["kind"] == "point"]


def outcome(program: Path, *arguments: str) -> dict[str, Any]:
    """The only point of a run of the program, whose exit status agrees with the point's."""
    done = run(program, *arguments)
    only: dict[str, Any]
    (only,) = points(done.stdout)
    assert done.returncode == (0 if only["status"] == "ok" else 1), done.stderr
    return only


def _place(command: list[str], content: bytes) -> Path:
    key = "\0".join(command).encode() + b"\0\0" + content
    folder = Path(os.environ[_SHARED]) / hashlib.sha256(key).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    return folder


def _make(target: Path, command: Callable[[Path], list[str]]) -> None:
    """Next to its place first: another worker may be making the same."""
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        draft = Path(scratch) / target.name
        _run(command(draft))
        draft.replace(target)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")

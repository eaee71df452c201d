"""The twin of a variant that cachegrind can run: the same kernel and the same flags, for a
processor without AVX-512, with a main() of its own (kernels/simulation/calls.c)."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.build import disassembly, objects
from benchbook.build import stage as build_stage
from benchbook.build.objects import BuildFailedError
from benchbook.core.files import read_json, write_json
from benchbook.define.catalogue import kernel_folder
from benchbook.host import facts

VERSION = 1
FOLDER = Path("build/simulation")
FACTS = "twin.json"
_LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3")  # what valgrind knows


@dataclass(frozen=True)
class Twin:
    """A program to simulate, its own flags, and what its timed functions are made of, as in
    variant.json (empty without objdump)."""

    program: Path
    flags: list[str]
    timed_functions: dict[str, dict[str, Any]]


def runnable(flags: list[str], level: str | None) -> list[str]:
    """Flags for a processor that valgrind has; `level` is this host's of x86-64, None elsewhere."""
    if level is None:
        return flags
    march = f"-march={level if level in _LEVELS else _LEVELS[-1]}"
    wrong = [
        flag
        for flag in flags
        if flag.startswith("-march=") and flag.removeprefix("-march=") not in _LEVELS
    ]
    return [march if flag in wrong else flag for flag in flags if not flag.startswith("-mavx512")]


def build_twin(root: Path, name: str, content: dict[str, Any], variant: str, size: int) -> Twin:
    """Build the twin of one variant, or find it built; `size` is what macros of sizes become, in
    bytes. build.BuildFailedError where compiler or linker refuse.
    """
    spec = content["variants"][variant]
    compiler = build_stage.find_compiler(spec["compiler"])
    if compiler is None:
        raise BuildFailedError(build_stage.not_there(spec["compiler"]))
    flags = runnable(
        [*content.get("flags", []), *spec.get("flags", [])], facts.facts()["isa_level"]
    )
    # Static arrays that fill the memory of a host do not fit beside valgrind.
    limits = content.get("limits")
    macros = {*spec.get("sizes", {}), *([limits["define"]] if limits else [])}
    flags += [f"-D{macro}={size}" for macro in sorted(macros)]
    folder, common = kernel_folder(root, name), root / "kernels" / "common"
    main = root / "kernels" / "simulation" / "calls.c"
    whole = [flag for flag in flags if objects.WHOLE_PROGRAM.fullmatch(flag)]
    shared = [main, *sorted(common.glob("*.[ch]"))]
    files = [*shared, *sorted(folder.glob("*.[ch]"))]
    place = root / FOLDER / _digest([compiler.path, compiler.version, *flags], files)
    if not (place / FACTS).exists():
        with _scratch(place) as scratch:
            work = Path(scratch)
            sources = [folder / source for source in content["sources"]]
            own = [objects.object_file(compiler, source, flags, common, work) for source in sources]
            plain = [*objects.COMMON_FLAGS, *whole]
            called = objects.object_file(compiler, main, plain, common, work)
            library = objects.harness(compiler, common, flags, work)
            program = _linked(compiler, [called, *own, library], flags, work / "program")
            timed = disassembly.timed_functions(own)
            functions = {name: body.record() for name, body in timed.items()}
            program.replace(place / "program")
            write_json(place / FACTS, {"version": VERSION, "timed_functions": functions})
    return Twin(place / "program", flags, read_json(place / FACTS)["timed_functions"])


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=folder)


def _digest(words: list[str], files: list[Path]) -> str:
    digest = hashlib.sha256("\0".join([str(VERSION), *words]).encode())
    for path in files:
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _linked(compiler: objects.Compiler, files: list[Path], flags: list[str], target: Path) -> Path:
    """Static where that links: it starts in a third of the time, and names all its functions."""
    with suppress(BuildFailedError):
        return objects.link(compiler, files, [*flags, "-static"], target)
    return objects.link(compiler, files, flags, target)

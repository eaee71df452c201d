"""The program behind a compiler's name: `gcc`, `clang`, `gcc-alt`, another major of GCC, or what a
library of MPI brings to compile with it.

Standard library only: the Snakefile imports this.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from benchbook.core.processes import output_of

ALT = "-alt"
# A library's own compiler by its full name -> how it tells the library's version, and a word of it.
LIBRARIES = {"mpicc.mpich": ("-v", "MPICH"), "mpicc.openmpi": ("--showme:version", "Open MPI")}


def program_of(name: str) -> str | None:
    """The path of a compiler, None where there is none.

    A library's full name stands for a plain `mpicc` too, where that says that it is this library's.
    A name that ends in `-alt` is a program of its own under Nix; elsewhere the newest
    `<base>-<major>` on PATH whose major is not that of `<base>`.
    """
    path = shutil.which(name)
    if path is None and name in LIBRARIES:  # where just one library is installed, or under Nix
        plain = shutil.which(name.partition(".")[0])
        return plain if plain and library_of(name, plain) else None
    if path is not None or not name.endswith(ALT):
        return path
    base = name.removesuffix(ALT)
    own = _major(shutil.which(base))
    others = {major: versions for major, versions in _majors(base).items() if major != own}
    return others[max(others)] if others else None


def library_of(name: str, path: str) -> str:
    """The library, with its version, that this compiler brings; empty where it is none of it."""
    if name not in LIBRARIES:
        return ""
    option, word = LIBRARIES[name]
    lines = output_of([path, option]).splitlines()
    return next((line[line.index(word) :] for line in lines if word in line), "")


def _majors(base: str) -> dict[int, str]:
    """Major -> path of every `<base>-<major>` on PATH, the first of each."""
    versions: dict[int, str] = {}
    for folder in map(Path, os.get_exec_path()):
        if not folder.is_dir():
            continue
        for path in folder.glob(f"{base}-*"):
            number = re.fullmatch(rf"{re.escape(base)}-(\d+)", path.name)
            if number and os.access(path, os.X_OK):
                versions.setdefault(int(number[1]), str(path))
    return versions


def _major(path: str | None) -> int | None:
    """What a compiler says of itself; None where it says nothing that begins with a number."""
    if path is None:
        return None
    number = re.match(r"\d+", output_of([path, "-dumpversion"]))
    return int(number[0]) if number else None

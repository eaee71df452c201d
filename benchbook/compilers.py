"""The program behind a compiler's name: `gcc`, `clang`, or `gcc-alt`, another major of GCC.

Standard library only: the Snakefile imports this.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

ALT = "-alt"
LIMIT_S = 10


def program_of(name: str) -> str | None:
    """The path of a compiler, None where there is none.

    A name that ends in `-alt` is a program of its own under Nix; elsewhere the newest
    `<base>-<major>` on PATH whose major is not that of `<base>`.
    """
    path = shutil.which(name)
    if path is not None or not name.endswith(ALT):
        return path
    base = name.removesuffix(ALT)
    own = _major(shutil.which(base))
    others = {major: found for major, found in _majors(base).items() if major != own}
    return others[max(others)] if others else None


def _majors(base: str) -> dict[int, str]:
    """Major -> path of every `<base>-<major>` on PATH, the first of each."""
    found: dict[int, str] = {}
    for folder in map(Path, os.get_exec_path()):
        if not folder.is_dir():
            continue
        for path in folder.glob(f"{base}-*"):
            number = re.fullmatch(rf"{re.escape(base)}-(\d+)", path.name)
            if number and os.access(path, os.X_OK):
                found.setdefault(int(number[1]), str(path))
    return found


def _major(path: str | None) -> int | None:
    """What a compiler says of itself; None where it says nothing that begins with a number."""
    if path is None:
        return None
    try:
        said = subprocess.run(
            [path, "-dumpversion"], capture_output=True, text=True, timeout=LIMIT_S, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.match(r"\d+", said)
    return int(number[0]) if number else None

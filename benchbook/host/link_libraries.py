"""What a kernel needs beside its compiler: libraries of others, and stubs out of files of Sun RPC.

Standard library only: the Snakefile imports this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.host import tools

RPCGEN = "rpcgen"
LIMIT_S = 30
# With arguments as C has them (-N), and with an answer that the caller owns (-M).
STUBS = {"-h": ".h", "-c": "_xdr.c", "-l": "_clnt.c", "-m": "_svc.c"}
STYLE = ("-N", "-M")
# Nobody here wrote what rpcgen makes, and nobody mends it.
UNWARNED = "-w"


class StubsFailedError(Exception):
    """rpcgen said no; its words."""


@dataclass(frozen=True)
class Needs:
    """What was found: arguments for each compile and for the linker, or why some is missing."""

    compile: list[str]
    link: list[str]
    missing: str = ""


def find(content: dict[str, Any], compiler: list[str]) -> Needs:
    """What an experiment's `libraries` and `procedures` need, as this compiler finds them."""
    arguments, links, missing = [], [], []
    if content.get("procedures") and shutil.which(RPCGEN) is None:
        missing.append(f"{RPCGEN} is not on PATH; {tools.remedy(tools.package_of(RPCGEN))}")
    for name, library in content.get("libraries", {}).items():
        below = library.get("below", "")
        header = Path(below) / library["header"]
        folder = _folder_with(str(header), compiler)
        if folder is None:
            remedy = tools.remedy(library["package"])
            missing.append(
                f"the library {name} is not here ({header} is in none of the compiler's folders); "
                f"{remedy}"
            )
        elif below:
            arguments += ["-isystem", str(folder / below)]
        links.append(f"-l{name}")
    return Needs(arguments, links, "; ".join(missing))


def identity(content: dict[str, Any], compiler: str | None) -> list[list[str | int]]:
    """What tells one finding from another, so that a remedy that was taken is seen."""
    programs = [shutil.which(RPCGEN)] if content.get("procedures") else []
    for library in content.get("libraries", {}).values() if compiler else ():
        header = Path(library.get("below", "")) / library["header"]
        folder = _folder_with(str(header), [compiler or ""])
        programs.append(str(folder / header) if folder else None)
    return [[path, Path(path).stat().st_mtime_ns] if path else [] for path in programs]


def stubs(source: Path, work: Path) -> list[Path]:
    """The C files that rpcgen makes of a file of Sun RPC, beside a header, in `work`."""
    # A copy, for it writes the path that it is given into what it makes.
    copy = work / source.name
    shutil.copyfile(source, copy)
    made = []
    for option, ending in STUBS.items():
        target = work / f"{source.stem}{ending}"
        try:
            done = subprocess.run(
                [RPCGEN, *STYLE, option, "-o", target.name, copy.name],
                cwd=work,
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StubsFailedError(f"{RPCGEN} made nothing of {source.name} ({error})") from None
        if done.returncode != 0 or not target.exists():
            words = " ".join(f"{done.stderr} {done.stdout}".split()) or "it said nothing"
            raise StubsFailedError(f"{RPCGEN} made nothing of {source.name}: {words}")
        if target.suffix == ".c":
            made.append(target)
    return made


def _folder_with(header: str, compiler: list[str]) -> Path | None:
    """The first folder of the compiler's own search that has the header."""
    try:
        done = subprocess.run(
            [*compiler, "-E", "-v", "-x", "c", os.devnull],
            env={**os.environ, "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    _, _, found = done.stderr.partition("#include <...> search starts here:\n")
    lines, _, _ = found.partition("End of search list.")
    folders = [Path(line.strip()) for line in lines.splitlines()]
    return next((folder for folder in folders if (folder / header).is_file()), None)

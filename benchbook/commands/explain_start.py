"""`benchbook explain FILE…` without typer: what its words mean, and what is printed."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.explain.api import (
    NOT_RECOGNISED,
    Explained,
    Machine,
    as_text,
    differences,
    looked_for,
    machine_of,
    of_file,
    print_explained,
    visible,
)

ROOT = Path()
_COMPARED = 2  # files that are held against each other


def explain_asked(words: list[str]) -> dict[str, Any] | None:
    """What `explain` is called with; None where only typer can tell what is wrong or wanted."""
    files, options, as_json, rest = list[Path](), {"--l3": "", "--host": ""}, False, iter(words)
    for word in rest:
        name, has_value, value = word.partition("=")
        if word == "--formats":
            return {"files": [], "l3": "", "host": "", "as_json": False, "formats": True}
        if word == "--json":
            as_json = True
        elif name in options:
            options[name] = value if has_value else next(rest, "")
            if options[name][:1] in ("", "-"):
                return None
        elif word != "-" and word[:1] in ("", "-"):
            return None
        else:
            files.append(Path(word))
    called_with = {
        "files": files,
        "l3": options["--l3"],
        "host": options["--host"],
        "as_json": as_json,
    }
    return called_with if files else None


def explain(files: list[Path], l3: str, host: str, *, as_json: bool, formats: bool = False) -> None:
    """Read what a benchmark printed, and say what is wrong with it; or list what can be read."""
    if formats:
        for tool, sign in sorted(looked_for().items(), key=lambda pair: pair[0].lower()):
            print(visible(f"{tool}: {sign}"))
        return
    show(files, machine_of(ROOT, l3, host), as_json=as_json)


def show(files: list[Path], machine: Machine, *, as_json: bool) -> None:
    """Print what the files say; exit code 2 where one of them was not recognised."""
    if sys.stdout is None:
        raise BenchbookError("standard output is closed: there is nowhere to print to; open it")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no µ
    try:
        explained_files = _printed(files, machine, as_json=as_json)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    if any(explained.trouble for explained in explained_files):
        raise SystemExit(NOT_RECOGNISED)


def _printed(files: list[Path], machine: Machine, *, as_json: bool) -> list[Explained]:
    explained_files = []
    for file in files:
        explained = of_file(file, machine)
        explained_files.append(explained)
        if not as_json:
            print_explained(explained, alone=len(files) == 1)
        if explained.trouble:
            sys.stdout.flush()
            shown = "\n".join(map(visible, explained.trouble.split("\n")))
            print(f"benchbook: {shown}", file=sys.stderr)
    if not as_json and len(explained_files) == _COMPARED:
        lines = differences(*explained_files)
        if lines:
            print("What differs between the two:")
        for line in lines:
            print(visible(line))
    if as_json:
        texts = [as_text(explained.raw_record()) for explained in explained_files]
        print(texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]")
    return explained_files

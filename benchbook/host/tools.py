"""The programs that Benchbook calls, with the Debian packages that bring them: tools.csv.

scripts/setup reads the same table. Programs of other people that are measured beside ours stand in
kernels/*/peers, compilers in the definitions of variants.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchbook.core.processes import output_of
from benchbook.host import facts

TABLE = Path(__file__).with_suffix(".csv")


@dataclass(frozen=True)
class Tool:
    """A row: programs of which any one will do, and packages, by blanks; who wants it and why.

    `wanted_by` has make, test, environment (it comes with .venv or with the Nix shell), points (for
    want of it the points of an experiment cannot run, and say so; no other fails), or evidence
    (nothing fails without it; `benchbook.capabilities` says what it does here).
    """

    programs: tuple[str, ...]
    package: str
    wanted_by: tuple[str, ...]
    purpose: str


@cache
def table() -> tuple[Tool, ...]:
    """All rows of tools.csv, in their order."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Tool(
                tuple(row["program"].split()),
                row["package"],
                tuple(row["for"].split()),
                row["purpose"],
            )
            for row in csv.DictReader(file)
        )


def package_of(program: str) -> str:
    """The Debian packages that bring a program; its own name where the table has none."""
    return next((tool.package for tool in table() if program in tool.programs), program)


def remedy(package: str) -> str:
    """What to do where a program is absent; empty package: the environment brings it."""
    if not package:
        return "enter the environment (`. .venv/bin/activate`, `nix develop`), or type `make`"
    if facts.door() == "nix":
        return "add it to the shell of flake.nix"
    return f"install it (Debian: apt-get install {package})"


def command(package: str) -> str:
    """A shell command that installs a Debian package; empty where the environment brings it."""
    if not package or facts.door() == "nix":
        return ""
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"


def version(path: str, *arguments: str) -> str:
    """The first line that a program says of its version; empty where it says nothing."""
    lines = output_of([path, *(arguments or ("--version",))]).strip().splitlines()
    return (lines or [""])[0]

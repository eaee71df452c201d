"""Importers, one file each, found by wildcard: the output of a benchmark -> tidy results.

An importer module has TOOL (what people call the program, as `explain --json` prints it; several
modules may have the same) and `read(log) -> list[Report]`: one Report for each run of the program
that the log holds, in its order, none where it does not hold one. `read` never raises and never
guesses: what it cannot read of a run that it recognised goes to the Report's `notes`. It must be
strict enough that no other tool's output is taken for its own, and linear in the length of the log.

A TOML file of the same name declares its `Sign`: a log needs few of the importers, and only those
whose words it has are loaded. It says too by which rule several runs of a tool are compared, where
that is not rules/two_sides.py; a reader in common/ may have a file for this alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchbook.core import plugins

_FOLDER = Path(__file__).parent


class Sign(NamedTuple):
    """What the output of a tool is known by.

    looks_for: in a few words for people, printed when nothing was recognised.
    words: without one of them a log is not the tool's; to look for words takes no time.
    compared_by: see `comparers`."""

    looks_for: str
    words: tuple[str, ...]
    compared_by: Mapping[str, str] = {}


def names() -> list[str]:
    """All importers, by module."""
    return plugins.module_names(__name__)


@cache
def signs() -> dict[str, Sign]:
    """What the importers declare, by module."""
    return {name: Sign(**_declared(_FOLDER / f"{name}.toml")) for name in names()}


@cache
def comparers() -> dict[str, str]:
    """By tool, the name of the rule that compares several runs of it in one log. "own": its reader
    or rules of its own do that, or nothing should (a monitor, a profiler)."""
    found = dict[str, str]()
    for path in sorted(_FOLDER.rglob("*.toml")):
        found |= _declared(path).get("compared_by", {})
    return found


@cache
def _declared(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def importer(name: str) -> ModuleType:
    """The importer of that name."""
    return plugins.load(__name__, name)

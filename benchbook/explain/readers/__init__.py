"""Importers, one file each, found by wildcard: the output of a benchmark -> tidy results.

An importer module has TOOL (what people call the program, as `explain --json` prints it; several
modules may have the same) and `read(log) -> list[Report]`: one Report for each run of the program
that the log holds, in its order, none where it does not hold one. `read` never raises and never
guesses: what it cannot read of a run that it recognised goes to the Report's `notes`. It must be
strict enough that no other tool's output is taken for its own, and linear in the length of the log.

A TOML file of the same name declares its `Sign`: a log needs few of the importers, and only those
whose words it has are loaded.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from benchbook.core import plugins

_FOLDER = Path(__file__).parent


class Sign(NamedTuple):
    """What the output of a tool is known by.

    looks_for: in a few words for people, printed when nothing was recognised.
    words: without one of them a log is not the tool's; to look for words takes no time."""

    looks_for: str
    words: tuple[str, ...]


def names() -> list[str]:
    """All importers, by module."""
    return plugins.module_names(__name__)


@cache
def signs() -> dict[str, Sign]:
    """What the importers declare, by module."""
    texts = {name: (_FOLDER / f"{name}.toml").read_text(encoding="utf-8") for name in names()}
    return {name: Sign(**tomllib.loads(text)) for name, text in texts.items()}


def importer(name: str) -> ModuleType:
    """The importer of that name."""
    return plugins.load(__name__, name)

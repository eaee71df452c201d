"""Importers, one file each, found by wildcard: the output of a benchmark -> tidy results.

An importer module has TOOL (what people call the program, as `explain --json` prints it; several
modules may have the same), LOOKS_FOR (what it knows its output by, in a few words for people,
printed when nothing was recognised), WORDS (without one of them a log is not the tool's, and `read`
is not called: to look for words takes no time), and `read(log) -> list[Report]`: one
Report for each run of the program that the log holds, in its order, none where it does not hold
one. `read` never raises and never guesses: what it cannot read of a run that it recognised goes to
the Report's `notes`. It must be strict enough that no other tool's output is taken for its own, and
linear in the length of the log.
"""

from __future__ import annotations

from types import ModuleType

from benchbook.core import plugins


def names() -> list[str]:
    """All importers, by module."""
    return plugins.module_names(__name__)


def importer(name: str) -> ModuleType:
    """The importer of that name."""
    return plugins.load(__name__, name)

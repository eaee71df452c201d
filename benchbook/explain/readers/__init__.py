"""Importers, one file each, found by wildcard: the output of a benchmark -> tidy results.

An importer module has TOOL (what people call the program; `explain --json` says it; several may
have the same), LOOKS_FOR
(what it knows its output by, in a few words for people, said when nothing was recognised), and
`read(log) -> list[Report]`: one Report for each run of the program that the log holds, in its
order, none where it does not hold one. `read` never raises and never guesses: what it cannot read
of a run that it recognised goes to the Report's `notes`. It must be strict enough that no other
tool's output is taken for its own, and linear in the length of the log. It may have SIGNS, a
compiled pattern without which, anywhere in the text, `read` has nothing to do, or several, one of
which is there (what begins with a word is found several times as fast); and WORDS, of which
any text has one in which SIGNS is found: to look for words is much faster than for patterns.
"""

from __future__ import annotations

import re
from types import ModuleType

from benchbook.core import plugins


def names() -> list[str]:
    """All importers, by module."""
    return plugins.module_names(__name__)


def importer(name: str) -> ModuleType:
    """The importer of that name."""
    return plugins.load(__name__, name)


def signs(of: ModuleType) -> tuple[re.Pattern[str], ...]:
    """One of these is in any text that the importer reads; none where it reads any."""
    found = getattr(of, "SIGNS", ())
    return found if isinstance(found, tuple) else (found,)

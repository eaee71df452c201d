"""What may be wrong with printed results, one rule a file, found by wildcard.

A rule has ARTEFACT (an id of the catalogue) and `check(reports, machine)`, which gives findings;
an Ask, where a fact that it lacks would decide; a plain string is a note. It looks at units,
columns and facts of importers (`RESULT_COLUMNS`), at names of tools only where an artefact is a
fault of that tool. What a detector of benchbook/artefacts can tell of such rows, it tells through
logs/seen.py: a rule is for what only a printed report has. Silence where nothing is wrong.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Machine:
    """Where the log was made, as far as it is known; `source`: --l3, --host, or the log."""

    llc_bytes: int | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    memory_bytes_per_s: float | None = None  # what its memory can carry, if that was measured
    source: str = ""


@dataclass(frozen=True)
class Ask:
    """A question whose answer would decide: the option that answers it; why, in one sentence."""

    artefact: str
    option: str
    why: str


def rules() -> list[ModuleType]:
    """All rules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]

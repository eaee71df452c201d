"""What may be wrong with printed results, one rule a file, found by wildcard.

A rule has ARTEFACT (an id of the catalogue) and `check(reports, machine)`, which gives findings;
an Ask, where a fact that it lacks would decide; a plain string is a note. It may have NEEDS, names,
statistics, columns or facts: of a report that has none of them it has nothing to say, and is not
asked (a log may have thousands). It looks at units,
columns and facts of importers (`RESULT_COLUMNS`), at names of tools only where an artefact is a
fault of that tool. What a detector of benchbook/detect/detectors can tell of such rows, it
tells through
logs/seen.py: a rule is for what only a printed report has. Silence where nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from types import ModuleType

from benchbook.core import plugins
from benchbook.explain.model import Report


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


Shapes = dict[frozenset[str], list[int]]


def shapes_of(reports: Sequence[Report]) -> Shapes:
    """Which of the reports have the same names, statistics, columns and facts, by these."""
    found: Shapes = {}
    for number, report in enumerate(reports):
        names = (word for name, statistic, _ in report.groups for word in (name, statistic))
        found.setdefault(frozenset(names).union(report.columns, report.facts), []).append(number)
    return found


def asked_of(rule: ModuleType, reports: list[Report], shapes: Shapes) -> list[Report]:
    """Those of which the rule may have something to say."""
    needs = getattr(rule, "NEEDS", None)
    if needs is None:
        return reports
    own = [several for words, several in shapes.items() if not words.isdisjoint(needs)]
    return [reports[number] for number in sorted(chain.from_iterable(own))]


def rules() -> list[ModuleType]:
    """All rules."""
    return plugins.load_all(__name__)

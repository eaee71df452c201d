"""What may be wrong with printed results: rules, found by wildcard in the modules of this folder.

A rule is a function under `@rule`. It is called with one report (parameter `report`) or with all of
a log (`reports`), and with the machine where it asks for that. It gives findings; an Ask, where a
fact that it lacks would decide; a plain string is a note. Its words, effect and remedy stand in
findings.toml. It looks at units, columns and facts of importers (columns.toml), at names of
tools only where an artefact is a fault of that tool. What a detector of benchbook/detect/detectors
can tell of such rows, it tells through sample_detectors.py: a rule is for what only a printed
report has. Silence where nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchbook.core import plugins
from benchbook.explain.model import Report
from benchbook.explain.outlines import to_ask
from benchbook.findings import Finding


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


Statement = Finding | Ask | str  # a plain string is a note
Told = (
    Iterator[Finding]
    | Iterator[Ask]
    | Iterator[str]
    | Iterator[Finding | Ask]
    | Iterator[Finding | str]
)


@dataclass(frozen=True)
class Rule:
    """A function that looks for one thing; `takes`: the names of its parameters."""

    name: str
    function: Callable[..., Told]
    takes: tuple[str, ...]

    def check(self, reports: Sequence[Report], machine: Machine) -> Iterator[Statement]:
        """What it says of these reports."""
        more = {"machine": machine} if "machine" in self.takes else {}
        if "reports" in self.takes:
            yield from self.function(reports, **more)
            return

        def says(report: Report) -> Told:
            return self.function(report, **more)

        for report in to_ask(reports, lambda own: next(says(own), None) is not None):
            yield from says(report)


_RULES: dict[str, Rule] = {}


def rule(function: Callable[..., Told]) -> Rule:
    """Make a rule of a function, found by its name."""
    code = function.__code__
    made = Rule(function.__name__, function, code.co_varnames[: code.co_argcount])
    known = _RULES.setdefault(made.name, made)
    if known.function.__module__ != function.__module__:
        raise ValueError(f"two rules are called {made.name}")  # one of them would never be asked
    return known


def rules() -> list[Rule]:
    """All rules, by name: findings come in this order."""
    plugins.load_all(__name__)
    return [_RULES[name] for name in sorted(_RULES)]

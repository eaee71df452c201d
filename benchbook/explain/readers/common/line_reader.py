"""The engine of readers that go through a log line by line.

A reader gives the class of its runs (a `Run`, with what it has to remember), what a line does to
the last run, and the pattern of the line that begins one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result, Twice
from benchbook.explain.results import GIVEN

_HEAD_UNIT = late(
    r"\b[KMG]i?B(?:ytes)?/s|GBPS|\[(?:usec|us|ns|ms|s)\]|#bytes|"
    r"\((?:us|ns|ms|s|usec|sec|Bytes|GFLOPS|GIOPS)\)",
    re.I,
)
_LONGEST_HEAD = 300  # characters
_DIGIT = late(r"\d")
LEFT_OUT = " \t.[]…"  # what stands for rows of a table that somebody left out


def is_head(text: str) -> bool:
    """Whether a line names units and has no number."""
    return len(text) <= _LONGEST_HEAD and not _DIGIT.search(text) and bool(_HEAD_UNIT.search(text))


@dataclass
class Run:
    """One start of a program as far as it was read; `line` is 0 where its head was not seen."""

    line: int = 0
    version: str = ""
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    twice: list[Twice] = field(default_factory=list)

    def finish(self) -> bool:
        """Complete it after its last line; whether it is reported."""
        return bool(self.results)

    def report(self, tool: str) -> Report:
        """What it printed; it has results."""
        line = self.line or self.results[0].line
        own = self.results, line, self.version, self.facts, self.notes, self.twice
        return Report(tool, *own)


R = TypeVar("R", bound=Run)


class Reading(Generic[R]):
    """A log that is being read: its runs so far, and the line that is being looked at."""

    def __init__(self, log: Log, make: type[R]) -> None:
        self.log, self.make = log, make
        self.runs = [make()]
        self.line = Line(0, "")
        self.above: dict[
            str, Any
        ] = {}  # what stands above the runs to come, by the fields of a run

    @property
    def run(self) -> R:
        """The last run."""
        return self.runs[-1]

    def begin(self, **of_run: Any) -> R:
        """A run that begins in this line."""
        self.runs.append(self.make(self.line.number, **(self.above | of_run)))
        return self.run

    @cached_property
    def typed(self) -> set[int]:
        """The numbers of the lines that are commands."""
        return {command.number for command in self.log.commands}

    @cached_property
    def last_line(self) -> int:
        """The number of the last line that is not blank; 0 where all are."""
        return next((line.number for line in reversed(self.log.lines) if line.text.strip()), 0)

    def ends_table(self, text: str) -> bool:
        """Whether rows below this line are of another table: it is a command or another head."""
        return self.line.number in self.typed or is_head(text)

    def number(self, text: str | None) -> float | None:
        """A number as the log writes numbers; None where there is none."""
        return self.log.number(text) if text else None

    def add(
        self,
        name: str,
        value: str | float | None,
        unit: str,
        statistic: str = "",
        of: Mapping[str, Any] | None = None,
    ) -> bool:
        """Add a figure of this line to the last run; whether it is a number at all."""
        figure = self.number(value) if isinstance(value, str) else value
        if figure is None:
            return False
        own = {} if of is None else of
        self.run.results.append(Result(name, figure, unit, self.line.number, statistic, own))
        return True

    def show(
        self,
        name: str,
        value: str | float | None,
        unit: str,
        statistic: str = "",
        of: Mapping[str, Any] | None = None,
    ) -> bool:
        """Add a figure that is only shown, and judged by no rule; whether it is a number."""
        own = {**(of or {}), "shown_statistic": statistic} if statistic else of
        return self.add(name, value, unit, GIVEN, own)


class LineReader(Generic[R]):
    """`read` of a module. `take` is called with the text of each line that is not blank, and not
    longer than any of a table, as `clean` makes it. A line of the pattern `begins` begins a run,
    of the version that it names."""

    def __init__(
        self,
        tool: str,
        run: type[R],
        take: Callable[[Reading[R], str], None],
        begins: re.Pattern[str] | None = None,
        clean: Callable[[str], str] = str.strip,
        lines: Callable[[Log], Iterable[Line]] = Log.printed_lines,
    ) -> None:
        self.tool, self.run, self.take, self.begins = tool, run, take, begins
        self.clean, self.lines = clean, lines

    def runs(self, log: Log) -> list[R]:
        """All runs of the log that are reported, in their order."""
        reading = Reading(log, self.run)
        for line in self.lines(log):
            if not (text := self.clean(line.text)) or text.isspace():
                continue
            reading.line = line
            if self.begins and (begun := self.begins.search(text)):
                reading.begin(version=begun.groupdict().get("version") or "")
            else:
                self.take(reading, text)
        return [run for run in reading.runs if run.finish()]

    def __call__(self, log: Log) -> list[Report]:
        """One report for each run."""
        return [run.report(self.tool) for run in self.runs(log)]

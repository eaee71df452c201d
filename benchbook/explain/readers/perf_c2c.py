"""perf c2c report: how many loads and stores were sampled, and where their data came from."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "perf-c2c"
_ROW = late(
    r"^(?P<name>Total records|(?:Locked )?Loads?\b[\w /-]{0,40}?|Stores?\b[\w /-]{0,40}?"
    r"|LLC Misses[\w ()%-]{0,40}?) *: +(?P<count>\d{1,15})$"
)


@dataclass
class _Run(Run):
    """One table of events."""

    def finish(self) -> bool:
        """Its records are what it is known by."""
        return any(own.name == "total records" for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if ":" in text and (found := _ROW.match(text)):
        name = found["name"].lower().strip()
        if name == "total records":
            reading.begin()
        reading.add(name, float(found["count"]), "records", GIVEN)


read = LineReader(TOOL, _Run, _line)

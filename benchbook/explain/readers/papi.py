"""PAPI: counts by its names of events, and energies by those of its component rapl."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "papi"
# As papi_command_line, papi_cost's likes and programs of people print them; lists of events have a
# number in base 16 behind the name.
_COUNT = late(
    r"^[\s|\"']*(?P<event>PAPI_[A-Z][A-Z0-9_]{2,14})[\s|\"']*(?:[:=,|]|\s{2,}|\t)[\s|\"']*"
    r"(?P<value>-?\d{1,3}(?:,\d{3})+|-?\d{1,19})(?![\w.x])[\s|,\"']*$"
)
_ENERGY = late(
    r"^(?:rapl:::)?(?P<event>[A-Z]\w{2,30}_ENERGY):PACKAGE(?P<place>\d{1,3})\s+"
    r"(?P<value>\d[\d.]*) J\s+\(Average Power (?P<power>\d[\d.]*) ?W\)"
)
_LEAST = 2  # rows: one alone may be of a text


@dataclass
class _Run(Run):
    """One start: events until one comes again."""

    def finish(self) -> bool:
        """Whether it has rows enough."""
        return len(self.results) >= _LEAST


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "PAPI_" in text and (found := _COUNT.match(text)):
        if any(result.name == found["event"] for result in run.results):
            reading.begin()
        value = float(found["value"].replace(",", ""))
        reading.add(found["event"], value, "events", "", {"kind": "event", "state": "ok"})
    elif found := _ENERGY.match(text):
        name = found["event"].replace("_", " ").capitalize()
        of = {"place": f"package {found['place']}"}
        reading.add(name, found["value"], "J", "", of)
        reading.add(name.replace("energy", "power"), found["power"], "W", "", of)


read = LineReader(TOOL, _Run, _line)

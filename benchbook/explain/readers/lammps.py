"""LAMMPS and SPARTA: the time of a run, its rates, and how it is shared out over the processes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "lammps"
_N = r"\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?"
_LOOP = late(
    rf"^(?:[\w./ -]{{1,60}}: ?)?Loop time of (?P<time>{_N}) "
    r"on (?P<processes>\d{1,7}) procs for (?P<steps>\d{1,12}) "
    r"steps with (?P<count>\d{1,15}) (?P<what>atoms|particles)"
)
_RATE = late(
    rf"(?P<value>{_N}) (?P<unit>ns/day|tau/day|hours/ns|timesteps/s"
    r"|[kMG]?(?:atom|particle)-step/s)(?=,|$|\s)"
)
_USE = late(
    r"^(?P<use>\d{1,6}(?:\.\d)?)% CPU use with (?P<processes>\d{1,7}) MPI tasks? x "
    r"(?P<threads>\d{1,4}|no) OpenMP threads?"
)
_SECTION = late(
    rf"^(?P<name>[A-Z]\w{{1,15}})\s*\|\s*(?P<least>{_N})?\s*\|\s*(?P<mean>{_N})\s*\|"
    rf"\s*(?P<most>{_N})?\s*\|\s*(?P<varied>{_N})?\s*\|\s*(?P<share>{_N})$"
)
_SHARED = late(
    rf"^(?P<name>Nlocal|Nghost|Neighs): +(?P<mean>{_N}) ave +(?P<most>{_N}) max +(?P<least>{_N}) "
    r"min$"
)
_BUILDS = late(r"^(?P<name>Neighbor list|Dangerous) builds = (?P<count>\d{1,12})$")
_UNITS = {
    "hours/ns": "h/ns", "katom-step/s": "k atom-steps/s", "Matom-step/s": "M atom-steps/s",
    "kparticle-step/s": "k particle-steps/s", "Mparticle-step/s": "M particle-steps/s",
    "particle-step/s": "particle-steps/s",
}  # fmt: skip


@dataclass
class _Run(Run):
    """One loop."""

    def finish(self) -> bool:
        """Its time is what it is known by."""
        return any(own.name == "loop time" for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _LOOP.match(text):
        run = reading.begin()
        run.facts |= {"processes": int(found["processes"]), "steps": int(found["steps"])}
        run.facts["particles"] = int(found["count"])
        if found["what"] == "particles":
            run.facts["printed_by"] = "sparta"
        reading.add("loop time", float(found["time"]), "s")
    elif not reading.run.line:
        return
    elif text.startswith("Performance:"):
        for rate in _RATE.finditer(text):
            unit = _UNITS.get(rate["unit"], rate["unit"])
            reading.add("rate", float(rate["value"]), unit, "" if unit == "timesteps/s" else GIVEN)
    elif found := _USE.match(text):
        threads = int(found["threads"]) if found["threads"].isdecimal() else 1
        reading.run.facts |= {"processes": int(found["processes"]), "threads": threads}
        reading.add("CPU use of a process", float(found["use"]), "%", GIVEN)
    elif found := _SECTION.match(text):
        _section(reading, found)
    elif found := _SHARED.match(text):
        for column, statistic in (("mean", "mean"), ("most", "max"), ("least", "min")):
            reading.add(f"{found['name']} {statistic}", float(found[column]), "1", GIVEN)
    elif found := _BUILDS.match(text):
        name = "dangerous builds" if found["name"] == "Dangerous" else "builds of neighbour lists"
        reading.add(name, float(found["count"]), "builds", GIVEN)


def _section(reading: Reading[_Run], found: re.Match[str]) -> None:
    name = found["name"]
    for column, statistic in (("least", "min"), ("mean", "mean"), ("most", "max")):
        if found[column]:
            reading.add(f"{name} time {statistic}", float(found[column]), "s", GIVEN)
    reading.add(f"{name} share", float(found["share"]), "%", GIVEN)


read = LineReader(TOOL, _Run, _line)

"""GROMACS: the rate of a run, its times, its table of cycles, and what it says of its balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "gromacs"
_N = r"\d+(?:\.\d*)?"
_BEGINS = late(r"^starting mdrun '|^R E A L +C Y C L E|^GROMACS: +gmx mdrun")
_HEAD = late(r"^Computing: +Num +Num +Call +Wall time\b")
_TIME = late(rf"^Time: +(?P<core>{_N}) +(?P<wall>{_N}) +(?P<percent>{_N})$")
_RATE = late(rf"^Performance: +(?P<day>{_N}) +(?P<hours>{_N})$")
_ROW = late(
    rf"^(?P<name>[A-Z][\w .+/]{{2,24}}?) +(?P<ranks>\d{{1,6}})(?: +(?P<threads>\d{{1,4}}) +"
    rf"(?P<calls>\d{{1,12}}))? +(?P<wall>{_N}) +(?P<cycles>{_N}) +(?P<share>\d{{1,3}}\.\d)$"
)
_SUM = late(rf"^(?P<name>Rest|Total) +(?P<wall>{_N}) +{_N} +(?P<share>\d{{1,3}}\.\d)$")
_IMBALANCE = late(rf"^Average load imbalance: +(?P<share>{_N}) ?%$")
_WAITING = late(
    rf"^Part of the total run time spent waiting due to (?P<why>.{{3,40}}?): +(?P<share>{_N}) ?%$"
)
_LOAD = late(rf"^Average PME mesh/force load: +(?P<load>{_N})$")
_STEPS = late(r"^(?P<steps>\d{1,12}) steps, +(?P<ps>[\d.]+) ps\.$")
_RANKS = late(
    r"^Using (?P<count>\d{1,6}) (?P<what>MPI (?:processes|process|threads?)|OpenMP threads?)\b"
)


@dataclass
class _Run(Run):
    """One mdrun."""

    has_table: bool = False

    def finish(self) -> bool:
        """It has a rate, or several rows of its table."""
        return any(own.name == "rate" or own.name.endswith(" wall time") for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _BEGINS.match(text):
        is_table = text.startswith("R E A L")
        if not is_table or run.has_table or any(own.name == "rate" for own in run.results):
            run = reading.begin()
        run.has_table, run.line = is_table, run.line or reading.line.number
    elif not run.has_table and _HEAD.match(text):  # of a table whose title was cut off
        run.has_table, run.line = True, run.line or reading.line.number
    elif run.has_table and (found := _SUM.match(text)):
        reading.add(f"{found['name']} wall time", float(found["wall"]), "s", GIVEN)
        reading.add(f"{found['name']} share", float(found["share"]), "%", GIVEN)
    elif found := _TIME.match(text):
        if any(own.name == "elapsed" for own in run.results):
            run = reading.begin()
        reading.add("CPU time", float(found["core"]), "s", GIVEN)
        reading.add("elapsed", float(found["wall"]), "s", GIVEN)
        reading.add("CPU use", float(found["percent"]), "%", GIVEN)
    elif found := _RATE.match(text):
        reading.add("rate", float(found["day"]), "ns/day")
        reading.add("time for a nanosecond", float(found["hours"]), "h/ns", GIVEN)
    elif run.has_table and (found := _ROW.match(text)):
        of: dict[str, Any] = {"label": found["name"]}
        reading.add(f"{found['name']} wall time", float(found["wall"]), "s", GIVEN, of)
        reading.add(f"{found['name']} share", float(found["share"]), "%", GIVEN, of)
    elif found := _IMBALANCE.match(text):
        reading.add("load imbalance", float(found["share"]), "%", GIVEN)
    elif found := _WAITING.match(text):
        reading.add(f"time lost to {found['why']}", float(found["share"]), "%", GIVEN)
    elif found := _LOAD.match(text):
        reading.add("load of PME by that of forces", float(found["load"]), "1", GIVEN)
    elif found := _STEPS.match(text):
        run.facts["steps"] = int(found["steps"])
    elif found := _RANKS.match(text):
        counted = "threads" if found["what"].startswith("OpenMP") else "processes"
        run.facts[counted] = int(found["count"])


read = LineReader(TOOL, _Run, _line)

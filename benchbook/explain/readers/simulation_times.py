"""Times that simulations print at their end or for each step: OpenFOAM, Quantum ESPRESSO, VASP, WRF
and NAMD."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "simulation"
_N = r"\d+(?:\.\d*)?"
_FOAM = late(rf"^ExecutionTime = (?P<cpu>{_N}) s +ClockTime = (?P<wall>{_N}) s$")
_CLOCK = r"(?:\d{1,4}d ?)?(?:\d{1,4}h ?)?(?:\d{1,5}m ?)?\d{0,6}(?:\.\d{1,3})?s?"
_QE = late(
    rf"^(?P<name>[A-Za-z][\w:.*+-]{{1,24}}) +: +(?P<cpu>{_CLOCK}) CPU +(?P<wall>{_CLOCK}) WALL"
    r"(?: +\( *(?P<calls>\d{1,12}) calls\))?$"
)
_QE_RUNS = late(r"^(?:Number of MPI processes|Threads/MPI process): +(?P<count>\d{1,6})$")
_VASP = late(
    r"^(?P<name>Total CPU time used|User time|System time|Elapsed time) \(sec\): +"
    rf"(?P<value>{_N})$"
)
_VASP_LOOP = late(rf"^LOOP\+: +cpu time +(?P<cpu>{_N}): real time +(?P<wall>{_N})$")
_WRF = late(
    r"^Timing for (?P<what>main|Writing) ?:? ?.{3,160}? (?:on|for) domain +(?P<domain>\d{1,2}): +"
    rf"(?P<value>{_N}) elapsed seconds$"
)
_NAMD = late(
    rf"^Info: (?:Benchmark|Initial) time: (?P<cpus>\d{{1,6}}) CPUs (?P<step>{_N}) s/step "
    rf"(?P<days>{_N}) days/ns"
)
_PART = late(r"(\d+(?:\.\d*)?)([dhms])")
_SIZES = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_MOST = 2000
_WHOLE_OF_QE = ("PWSCF", "CP", "PHONON", "NEB", "PW")


@dataclass
class _Run(Run):
    """The times of one program; of OpenFOAM the last ones."""

    tool: str = TOOL
    cpu: float | None = None
    wall: float | None = None
    ends: int = 0
    counted: dict[str, int] = field(default_factory=dict)

    def finish(self) -> bool:
        """Keep the whole CPU time and elapsed time that it printed last."""
        if self.cpu is not None and self.wall is not None:
            self.facts |= {"cpu_of_run_s": self.cpu, "wall_of_run_s": self.wall}
            self.facts["end_of_run_line"] = self.ends
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if len(run.results) > _MOST:
        return
    if text.startswith("ExecutionTime") and (found := _FOAM.match(text)):
        _of(reading, "openfoam")
        _ended(reading, float(found["cpu"]), float(found["wall"]))
        reading.add("execution time", float(found["cpu"]), "s", GIVEN)
        reading.add("clock time", float(found["wall"]), "s", GIVEN)
    elif "WALL" in text and (found := _QE.match(text)):
        _espresso(reading, found)
    elif found := _QE_RUNS.match(text):
        of = "threads" if text.startswith("Threads") else "processes"
        run.counted = {**run.counted, of: int(found["count"])}
    elif found := _VASP.match(text):
        run = _of(reading, "vasp")
        value, name = float(found["value"]), found["name"].lower()
        reading.add(name, value, "s", GIVEN)
        if name.startswith("total cpu"):
            run.cpu = value
        elif name.startswith("elapsed"):
            run.wall, run.ends = value, reading.line.number
    elif found := _VASP_LOOP.match(text):
        _of(reading, "vasp")
        reading.add("loop CPU time", float(found["cpu"]), "s", GIVEN)
        reading.add("loop time", float(found["wall"]), "s", GIVEN)
    elif text.startswith("Timing for") and (found := _WRF.match(text)):
        _of(reading, "wrf")
        name = "step" if found["what"] == "main" else "writing"
        reading.add(f"{name} of domain {found['domain']}", float(found["value"]), "s", GIVEN)
    elif text.startswith("Info: ") and (found := _NAMD.match(text)):
        _of(reading, "namd")
        own: dict[str, Any] = {"processes": int(found["cpus"])}
        reading.add("time of a step", float(found["step"]), "s", "", own)
        reading.add("days for a nanosecond", float(found["days"]), "days/ns", GIVEN, own)


def _of(reading: Reading[_Run], tool: str) -> _Run:
    """The run of this program: another begins where another program printed before."""
    run = reading.run
    if run.tool != tool and run.results:
        run = reading.begin(counted=run.counted)
    run.tool = tool
    run.line = run.line or reading.line.number
    return run


def _ended(reading: Reading[_Run], cpu: float, wall: float) -> None:
    run = reading.run
    run.cpu, run.wall, run.ends = cpu, wall, reading.line.number


def _espresso(reading: Reading[_Run], found: re.Match[str]) -> None:
    cpu, wall = _seconds(found["cpu"]), _seconds(found["wall"])
    name = found["name"]
    if cpu is None or wall is None:
        return
    run = _of(reading, "quantum-espresso")
    run.facts |= run.counted
    of: dict[str, Any] = {"label": name}
    reading.add(f"{name} CPU time", cpu, "s", GIVEN, of)
    reading.add(f"{name} time", wall, "s", GIVEN, of)
    if name in _WHOLE_OF_QE:
        _ended(reading, cpu, wall)


def _seconds(text: str) -> float | None:
    """`1h 2m`, `1m12.27s` or `10.13s` as seconds."""
    parts = _PART.findall(text)
    return sum(float(number) * _SIZES[unit] for number, unit in parts) if parts else None


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each program."""
    return [run.report(run.tool) for run in _READER.runs(log)]

"""mdtest: directories and files that are made, looked up and removed in a second."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "mdtest"
_VERSION = late(r"^mdtest-(?P<version>\S+) was launched with (?P<tasks>\d+) total task")
_SIZE = late(r"^(?P<tasks>\d+) tasks, (?P<items>\d+) (?P<what>files/directories|files|directories)")
_HEAD = late(r"^SUMMARY(?: rate)?: \(of (?P<count>\d+) iterations?\)")
# With --print-all-procs: of single processes, and of all in one iteration.
_ROW_OF_BOTH = late(
    r"^(?P<what>(?:Directory|File|Tree) [a-z]+) *:? +(?P<rank_max>\d+\.\d+) +"
    r"(?P<rank_min>\d+\.\d+) +(?P<rank_mean>\d+\.\d+) +(?P<rank_stddev>\d+\.\d+) +"
    r"(?P<max>\d+\.\d+) +(?P<min>\d+\.\d+) +(?P<mean>\d+\.\d+)(?: +(?P<stddev>\d+\.\d+))?$"
)
_ROW = late(
    r"^(?P<what>(?:Directory|File|Tree) [a-z]+) *:? +(?P<max>\d+\.\d+) +(?P<min>\d+\.\d+) +"
    r"(?P<mean>\d+\.\d+) +(?P<stddev>\d+\.\d+)$"
)


@dataclass
class _Run(Run):
    """One start."""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _VERSION.match(text):
        run = reading.begin(version=found["version"], facts={"processes": int(found["tasks"])})
    elif found := _SIZE.match(text):
        if run.results:
            run = reading.begin()
        run.facts |= {"processes": int(found["tasks"]), "items": int(found["items"])}
    elif found := _HEAD.match(text):
        if run.results:
            run = reading.begin()
        run.line = run.line or reading.line.number
        run.facts["rounds_of_tree"] = int(found["count"])
    elif run.line and (found := _ROW.match(text)) and float(found["max"]):
        only = run.facts.get("rounds_of_tree") == 1
        for statistic in ("mean",) if only else ("max", "min", "mean", "stddev"):
            name = found["what"].lower()
            reading.add(name, found[statistic], "operations/s", statistic)
    elif run.line and (found := _ROW_OF_BOTH.match(text)):
        name = found["what"].lower()
        for statistic in ("max", "min", "mean", "stddev"):
            if found[statistic]:
                reading.add(name, found[statistic], "operations/s", statistic)
            of_rank = found[f"rank_{statistic}"]
            reading.add(f"{name} of a process", of_rank, "operations/s", statistic)


read = LineReader(TOOL, _Run, _line)

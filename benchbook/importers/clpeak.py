"""clpeak: bandwidths of a device's memory and of transfers to it, rates of arithmetic."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.importers import Log, Report, Result
from benchbook.logs.printed import printed_lines

TOOL = "clpeak"
LOOKS_FOR = "clpeak: `Global memory bandwidth (GBPS)`, `enqueueWriteBuffer : 12.3`"
WORDS = ("(GBPS)", "(GFLOPS)", "(GIOPS)", "Kernel launch latency")
SIGNS = re.compile(r"\(GBPS\)|\((?:GFLOPS|GIOPS)\)|Kernel launch latency")
_DEVICE = re.compile(r"^\s*Device: (?P<name>.+?)\s*$")
_PLATFORM = re.compile(r"^\s*Platform: (?P<name>.+?)\s*$")
_TITLE = re.compile(r"^\s*(?P<name>[A-Z][\w -]*?)\s*\((?P<unit>GBPS|GFLOPS|GIOPS)\)\s*$")
_ROW = re.compile(r"^\s*(?P<name>[A-Za-z][\w() -]*?)\s*: (?P<value>-?[\d.,]+|-?nan|-?inf)\s*$")
_LAUNCH = re.compile(r"^\s*Kernel launch latency : (?P<value>[\d.,]+) us")
_UNITS = {"GBPS": "GB/s", "GFLOPS": "Gflop/s", "GIOPS": "Gop/s"}
_WAYS = {"enqueueWriteBuffer": "host to device", "enqueueReadBuffer": "device to host"}


@dataclass
class _Run:
    """One device."""

    line: int
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    unit: str = ""


def read(log: Log) -> list[Report]:
    """One report for each device."""
    runs, platform = [_Run(1)], ""
    for line in printed_lines(log):
        run, text = runs[-1], line.text
        if found := _PLATFORM.match(text):
            platform = found["name"]
        elif found := _DEVICE.match(text):
            runs.append(_Run(line.number, facts={"device": found["name"], "platform": platform}))
        elif found := _TITLE.match(text):
            run.title, run.unit = found["name"], _UNITS[found["unit"]]
        elif found := _LAUNCH.match(text):
            value = log.number(found["value"])
            if value is not None:
                run.results.append(Result("kernel launch", value, "us", line.number, "mean"))
        elif run.title and (found := _ROW.match(text)):
            value = log.number(found["value"])
            if value is not None:
                name = f"{run.title}: {found['name']}"
                way = _WAYS.get(found["name"].split()[0])
                of: dict[str, Any] = {"direction": way} if way else {}
                if found["name"].startswith(("enqueueMapBuffer", "enqueueUnmap")):
                    of["zero_copy"] = True
                run.results.append(Result(name, value, run.unit, line.number, "mean", of))
    return [Report(TOOL, one.results, one.line, "", one.facts) for one in runs if one.results]

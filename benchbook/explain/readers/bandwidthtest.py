"""CUDA's bandwidthTest: its tables, a line of --csv, sweeps, pageable and pinned memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import half_digit, printed_lines, unmarked, unremarked

TOOL = "bandwidthtest"
LOOKS_FOR = "CUDA bandwidthTest: `Host to Device Bandwidth, 1 Device(s)`, `bandwidthTest-H2D-...`"
WORDS = (
    "andwidthTest-",
    "andwidth Test",
    "andwidth test",
    "Device Bandwidth",
    "Device bandwidth",
    "Host Bandwidth",
    "Host bandwidth",
)
_START = late(
    r"\[CUDA Bandwidth Test\]|^\s*(?:\./)?(?:ocl)?bandwidthTest(?:\.exe|\.cu)? Starting", re.I
)
_DEVICE = late(r"^\s*Device \d+:\s*(?P<name>\S(?:.*\S)?)\s*$", re.I)
_TITLE = late(
    r"^\s*(?P<from>Host|Device) to (?P<to>Host|Device) Bandwidth\b"
    r"(?:, (?P<devices>\d+) Device)?",
    re.I,
)
_MEMORY = late(r"(?P<kind>pinned|pageable|paged)\s+(?:Write-Combined\s+)?Memory Trans", re.I)
_OLD_MEMORY = late(r"(?: for|,) (?P<kind>pinned|pageable|paged) memory\b", re.I)  # in titles
# Between columns it has tabs, which editors show as `>---`.
_UNIT = late(r"Transfer Size \(Bytes\)(?:\s+|>[\s>-]*)Bandwidth\s?\((?P<unit>[MG]B/s)\)")
_ROW = late(r"^\s*(?P<size>\d+)(?:\s+|>[\s>-]*)(?P<rate>-?[\d.,]+|-?nan|-?inf)\s*$")
_CSV = late(
    r"bandwidthTest-(?P<way>H2D|D2H|D2D)(?:-(?P<memory>Pinned|Paged|Pageable))?(?:-\w+)?,\s*"
    r"Bandwidth = (?P<rate>\d+(?:\.\d+)?|-?nan|inf) (?P<unit>[MG]B/s),\s*"
    r"Time = (?P<time>\d+(?:\.\d+)?) s(?:ec)?,\s*Size = (?P<size>\d+) bytes"
)
# While it printed MB/s, it divided by 2^20; its GB/s are of 10^9.
_MEANT = {"MB/s": "MiB/s", "GB/s": "GB/s"}
_EXACT_S = 0.002  # of its five decimals a hundredth part is left
_WAYS = {
    "H2D": "host to device", "D2H": "device to host", "D2D": "device to device",
}  # fmt: skip
_NAMES = "Running on..."  # what the device's name follows
_PASS = late(r"Result = (?P<result>PASS|FAIL)")


@dataclass
class _Run:
    """One start."""

    line: int
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    way: str = ""
    memory: str = ""
    unit: str = ""
    devices: int = 1  # that one rate is the sum of
    is_named: bool = False  # whether the next line is the device's name
    filled: bool = False  # whether its table has rows: another head is that of another table


def read(log: Log) -> list[Report]:
    """One report for each start."""
    runs = [_Run(1)]
    for line in printed_lines(log):
        if _START.search(line.text):
            runs.append(_Run(line.number))
        else:
            _line(log, runs[-1], _uncommented(line))
    for run in runs:
        if any(one.unit == "MiB/s" for one in run.results):
            run.notes.append("its MB/s are of 2^20 bytes")
    return [
        Report(TOOL, run.results, run.line if run.line > 1 else run.results[0].line, "",
               run.facts, run.notes)
        for run in runs if run.results
    ]  # fmt: skip


def _uncommented(line: Line) -> Line:
    """The line without the mark of a comment: people keep such tables in their scripts."""
    return Line(line.number, unmarked(line.text)) if line.text.lstrip()[:1] == "#" else line


def _line(log: Log, run: _Run, line: Line) -> None:
    text = line.text
    if found := _CSV.search(text):
        _separated(run, line, found)
    elif found := _TITLE.search(text):
        run.way = f"{found['from']} to {found['to']}".lower()
        run.memory, run.unit = _memory(_OLD_MEMORY.search(text)), ""
        run.devices = int(found["devices"] or 1)
        run.filled = False
    elif found := _MEMORY.search(text):
        _untitled(run)
        run.memory = _memory(found)
    elif found := _UNIT.search(text):
        _untitled(run)
        run.unit = _MEANT[found["unit"]]
    elif run.way and run.unit and (found := _ROW.match(unremarked(text))):
        value = log.number(found["rate"])
        if value is not None:
            of: dict[str, Any] = {"message_bytes": int(found["size"])}
            if run.devices > 1:
                of["devices"] = run.devices
                of["summed_of"] = "mean"  # it measures one after the other, and adds
            _add(run, line, run.way, run.memory, value, run.unit, of)
            run.filled = True
    elif text and not text.isspace():
        run.unit = ""  # the table has ended: rows may follow that another tool printed
        if found := _DEVICE.search(text):
            run.facts.setdefault("device", found["name"])
        elif run.is_named and not text.rstrip().endswith("Mode"):
            run.facts.setdefault("device", text.strip())  # as oclBandwidthTest does
        elif (found := _PASS.search(text)) and found["result"] == "FAIL":
            run.facts["validated"] = False
        run.is_named = text.strip() == _NAMES


def _untitled(run: _Run) -> None:
    """Forget the title where its table is full: that of the next was cut out of the log."""
    if run.filled:
        run.way, run.filled = "", False


def _memory(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    return "pinned" if found["kind"].lower() == "pinned" else "pageable"


def _separated(run: _Run, line: Line, found: re.Match[str]) -> None:
    """Times have five decimals: of a short transfer nothing is left of them."""
    memory = (found["memory"] or "").lower()
    memory = "pageable" if memory.startswith("page") else memory
    size, took = int(found["size"]), float(found["time"])
    of: dict[str, Any] = {"message_bytes": size, "took_s": took}
    if took > 0:
        of |= {"bytes_moved": size, "elapsed_s": took, "elapsed_error_s": half_digit(found["time"])}
    rate, unit = float(found["rate"]), found["unit"]
    if unit == "MB/s" and took >= _EXACT_S and rate > 0:
        per_unit = size / took / rate
        unit = "MiB/s" if per_unit > 1.024e6 else "MB/s"
    else:
        unit = _MEANT[unit]
    _add(run, line, _WAYS[found["way"]], memory, rate, unit, of)


def _add(
    run: _Run, line: Line, way: str, memory: str, value: float, unit: str, of: dict[str, Any]
) -> None:
    of["direction"] = way
    if memory and "host" in way:
        of["host_memory"] = memory
    run.results.append(Result(f"{way} copy", value, unit, line.number, "mean", of))

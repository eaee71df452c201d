"""PyTorch: the table of its profiler, the measurements of torch.utils.benchmark, and what it says
of the device's memory when that is full.

They are read where no benchmark with a reader of its own was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

LOOKS_FOR = {
    "torch.profiler": "PyTorch's profiler: `Name  Self CPU %  Self CPU  …  # of Calls`",
    "torch.utils.benchmark": "torch.utils.benchmark: `Median: 953.41 ns`, `IQR: 95.22 ns (…)`",
    "torch memory": "PyTorch: `CUDA out of memory. Tried to allocate 22.78 GiB. …`",
}
_N = r"\d{1,12}(?:\.\d{1,6})?"
_HEAD = late(r"^Name\s{2,}Self CPU %\s.*# of Calls(?:\s|$)")
_GAP = late(r"\s{2,}")
_TIME = late(rf"(?P<value>{_N})(?P<unit>us|ms|s)")
_WHOLE = late(rf"^Self (?P<where>CPU|CUDA|XPU|NPU) time total: (?P<value>{_N})(?P<unit>us|ms|s)$")
_KEPT = {
    "Self CPU": "self CPU time", "CPU total": "CPU time", "Self CUDA": "self device time",
    "CUDA total": "device time",
}  # fmt: skip
_LONGEST_NAME = 60


@dataclass
class _Profile(Run):
    """One table; `heads` are its columns."""

    heads: tuple[str, ...] = ()


def _row(reading: Reading[_Profile], text: str) -> None:
    run = reading.run
    if _HEAD.match(text):
        run = reading.begin(heads=tuple(_GAP.split(text)))
        if not any("CUDA" in head or "XPU" in head for head in run.heads):
            run.facts["host_only_line"] = reading.line.number
    elif found := _WHOLE.match(text):
        where = "CPU" if found["where"] == "CPU" else "device"
        reading.add(f"self {where} time", found["value"], found["unit"], "sum", {})
    elif run.heads and not text.startswith("---"):
        cells = _GAP.split(text)
        if len(cells) != len(run.heads) or not cells[-1].isdecimal():
            return
        named = dict(zip(run.heads, cells, strict=True))
        name = named["Name"][:_LONGEST_NAME]
        of: dict[str, Any] = {"calls": int(cells[-1]), "benchmark": name}
        for head, called in _KEPT.items():
            if (time := _TIME.fullmatch(named.get(head, ""))) and float(time["value"]) > 0:
                reading.add(f"{name} {called}", time["value"], time["unit"], "total", of)


_STATEMENT = late(r"^(?:>>> |In \[\d+\]: )?(?P<code>\S.{0,80})$")
_MEDIAN = late(rf"^Median: (?P<value>{_N}) (?P<unit>ns|us|ms|s)$")
_ONE = late(rf"^(?P<value>{_N}) (?P<unit>ns|us|ms|s)$")
_SPREAD = late(
    rf"^IQR:\s+(?P<value>{_N}) (?P<unit>ns|us|ms|s) \((?P<low>{_N}) to (?P<high>{_N})\)$"
)
_COUNTS = late(
    r"^(?P<count>\d{1,9}) measurements?, (?P<runs>\d{1,9}) runs? (?:per measurement)?,? ?,? ?"
    r"(?P<threads>\d{1,4}) threads?$"
)


@dataclass
class _Timer(Run):
    """One measurement; `above` is the line before it."""

    above: str = ""


def _measurement(reading: Reading[_Timer], text: str) -> None:
    if found := _MEDIAN.match(text):
        name = reading.run.above[:_LONGEST_NAME] or "time"
        run = reading.begin(facts={"benchmark": name})
        reading.add("time", found["value"], found["unit"], "median", {})
        run.line = reading.line.number
    elif found := _SPREAD.match(text):
        reading.add("time", found["value"], found["unit"], "interquartile range", {})
        reading.add("time", found["low"], found["unit"], "p25", {})
        reading.add("time", found["high"], found["unit"], "p75", {})
    elif found := _COUNTS.match(text):
        reading.run.facts |= {
            "repetitions": int(found["count"]), "loops": int(found["runs"]),
            "threads": int(found["threads"]),
        }  # fmt: skip
    reading.run.above = text


_SIZE = r"(?P<{name}>\d{{1,9}}(?:\.\d{{1,4}})?|0) (?P<{name}_unit>[KMG]iB|bytes)"


def _size(name: str) -> str:
    return _SIZE.format(name=name)


_FULL = late(rf"(?:CUDA|HIP|XPU) out of memory\. Tried to allocate {_size('asked')}")
_PARTS = {
    "whole": late(rf"(?:total capac\w+ of {_size('a')}|{_size('b')} total capacity)"),
    "free": late(rf"(?:of which {_size('a')} is free|{_size('b')} free)"),
    "in use by this process": late(rf"this process has {_size('a')} memory in use"),
    "allocated": late(
        rf"(?:allocated memory {_size('a')} is allocated|{_size('b')} already allocated)"
    ),
    "reserved": late(
        rf"(?:and {_size('a')} is reserved by PyTorch but|{_size('b')} reserved in total)"
    ),
}
_OTHERS = late(rf"Process (?P<pid>\d{{1,8}}) has {_size('a')} memory in use")
_UNITS = {"KiB": "KiB", "MiB": "MiB", "GiB": "GiB", "bytes": "B"}


def _memory(log: Log) -> list[Report]:
    """One report for each line that says that the device is full; the first of equal ones."""
    reports: list[Report] = []
    said: set[str] = set()
    for line in log.having("out of memory. Tried to allocate"):
        found = _FULL.search(line.text[:4000])
        if found is None or found[0] in said:
            continue
        said.add(found[0])
        text = line.text[found.start() : found.start() + 2000]
        figures = [("asked", found, "asked")]
        for name, pattern in _PARTS.items():
            if part := pattern.search(text):
                figures.append((name, part, "a" if part.groupdict().get("a") else "b"))
        run = Run(line.number)
        reading = _Figures(run, line.number)
        for name, part, key in figures:
            reading.add(name, part, key)
        for other in _OTHERS.finditer(text):
            reading.add("held by another process", other, "a")
        reports.append(run.report("torch memory"))
    return reports


class _Figures:
    """Sizes of one line."""

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number

    def add(self, name: str, found: re.Match[str], key: str) -> None:
        """Add the size that a part of the pattern found."""
        from benchbook.explain.model import Result

        unit = _UNITS[found[f"{key}_unit"]]
        self.run.results.append(Result(name, float(found[key]), unit, self.number))


_profiles = LineReader("torch.profiler", _Profile, _row)
_timers = LineReader("torch.utils.benchmark", _Timer, _measurement)


def read(log: Log) -> list[Report]:
    """One report for each table, measurement or message."""
    every: list[Report] = []
    if log.has("Self CPU %") or log.has("Self CPU time total"):
        every += _profiles(log)
    if log.has("Median:"):
        every += _timers(log)
    if log.has("out of memory. Tried to allocate"):
        every += _memory(log)
    return sorted(every, key=lambda report: report.line)

"""iostat, with -x or without: requests, rates, waits, queue and use of each device, interval by
interval. How busy the CPUs were is read as mpstat's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "iostat"
_HEAD = late(r"^Device:?\s+(?P<columns>\S.*%util|tps\s.*[kM]B_(?:read|wrtn|dscd))$")
_BANNER = late(r"^Linux \d\S* \(\S+\)\s")
_ROW = late(r"^(?P<device>[a-zA-Z][\w!/.:-]{0,40})\s+(?P<values>\d[\d.,]*(?:\s+\d[\d.,]*){4,30})$")
_DEVICE = late(r"^(?P<device>[a-zA-Z][\w!/.:-]{0,80})$")
_VALUES = late(r"^\d[\d.,]*(?:\s+\d[\d.,]*){4,30}$")
_COLUMNS = {
    "tps": ("transfers", "operations/s"), "kB_read/s": ("read rate", "KiB/s"),
    "MB_read/s": ("read rate", "MiB/s"), "kB_wrtn/s": ("write rate", "KiB/s"),
    "MB_wrtn/s": ("write rate", "MiB/s"),
    "r/s": ("reads", "operations/s"), "w/s": ("writes", "operations/s"),
    "rkB/s": ("read rate", "KiB/s"), "wkB/s": ("write rate", "KiB/s"),
    "rMB/s": ("read rate", "MiB/s"), "wMB/s": ("write rate", "MiB/s"),
    "r_await": ("read wait", "ms"), "w_await": ("write wait", "ms"), "await": ("wait", "ms"),
    "aqu-sz": ("queue", "requests"), "avgqu-sz": ("queue", "requests"), "%util": ("use", "%"),
    "f_await": ("flush wait", "ms"),
}  # fmt: skip
# What is only shown: of requests, and of the short form, which has no times.
_SHOWN = {
    "rareq-sz": ("KiB a read", "KiB"), "wareq-sz": ("KiB a write", "KiB"),
    "kB_read": ("read", "KiB"), "kB_wrtn": ("written", "KiB"),
    "MB_read": ("read", "MiB"), "MB_wrtn": ("written", "MiB"),
}  # fmt: skip
_MOST = 2000  # rows of a log


@dataclass
class _Run(Run):
    """All intervals of one log, below the same heads."""

    columns: list[str] = field(default_factory=list)
    rows: int = 0
    banner: bool = False  # of the program, above its first report
    interval: int = -1
    device: str = ""  # whose values stand on the next line


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        run.line = run.line or reading.line.number
        run.columns = found["columns"].split()
        run.interval += 1
        if run.banner and not run.interval:
            run.facts["since_start_line"] = reading.line.number
    elif run.rows and text.startswith("```"):
        reading.begin().line = 0  # what stands in another block of code is of another run
    elif _BANNER.match(text):
        run.banner = True
    elif run.columns and run.rows < _MOST and (found := _ROW.match(text)):
        _row(reading, found["device"], found["values"].split())
    elif run.columns and (found := _DEVICE.match(text)):
        run.device = found["device"]  # a long name, or a narrow page
        return
    elif run.device and run.rows < _MOST and _VALUES.match(text):
        _row(reading, run.device, text.split())
    run.device = ""


def _row(reading: Reading[_Run], device: str, values: list[str]) -> None:
    run = reading.run
    if len(values) != len(run.columns):
        return
    run.rows += 1
    of: dict[str, Any] = {"device": device, "interval": run.interval}
    for column, value in zip(run.columns, values, strict=True):
        if column in _COLUMNS:
            name, unit = _COLUMNS[column]
            reading.add(name, value, unit, "interval", of)
        elif column in _SHOWN:
            name, unit = _SHOWN[column]
            reading.show(name, value, unit, of=of)


read = LineReader(TOOL, _Run, _line)

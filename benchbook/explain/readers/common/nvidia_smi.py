"""nvidia-smi: its table of devices, what it prints of each as CSV, and what dmon prints each
second. It stands next to nearly every benchmark of a GPU, so it is read only where nothing else
was."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "nvidia-smi"
LOOKS_FOR = (
    "nvidia-smi: its table (`| 30%  45C  P2  120W / 125W |`), --query-gpu=… --format=csv, or dmon"
)
_NAMED = late(
    r"^\|\s*(?P<gpu>\d{1,3})\s+(?P<name>[A-Z][\w. /()-]{2,40}?)\s+(?:On|Off|TCC|WDDM|\.\.\.)\b"
)
_ECC = late(r"\|\s+(?P<count>\d{1,12})\s*\|\s*$")
_STATE = late(
    r"^\|\s*(?:\d{1,3}%|N/A|ERR!)\s+(?P<temperature>\d{1,3})C\s+P(?P<state>\d{1,2})\s+"
    r"(?P<draw>\d{1,5}(?:\.\d+)?)W\s*/\s*(?P<limit>\d{1,5}(?:\.\d+)?)W\s*\|\s*"
    r"(?P<used>\d{1,7})MiB\s*/\s*(?P<whole>\d{1,7})MiB\s*\|\s*(?:(?P<busy>\d{1,3})%|N/A)\s"
)
_HEAD = late(
    r"^(?:#\s*)?[a-z_]+(?:\.[a-z_]+)*(?: \[\w+%?\]| \[%\])?(?:, [a-z_.]+(?: \[[\w%]+\])?)+$"
)
_CELL = late(r"(?P<value>\d+(?:\.\d+)?)(?: (?P<unit>MHz|MiB|W|%))?")
_UNITS = {"MHz": "MHz", "MiB": "MiB", "W": "W", "%": "%"}
_NAMES = {
    "temperature.gpu": ("temperature", "°C"), "power.draw": ("power", "W"),
    "power.limit": ("power limit", "W"), "enforced.power.limit": ("power limit", "W"),
    "utilization.gpu": ("busy", "%"), "clocks.sm": ("clock", "MHz"),
    "clocks.current.sm": ("clock", "MHz"), "clocks.gr": ("graphics clock", "MHz"),
    "clocks.current.graphics": ("graphics clock", "MHz"), "clocks.mem": ("memory clock", "MHz"),
    "clocks.current.memory": ("memory clock", "MHz"), "clocks.max.sm": ("highest clock", "MHz"),
    "memory.used": ("memory used", "MiB"), "memory.total": ("memory", "MiB"),
    "pcie.link.gen.current": ("PCIe generation", "1"),
    "pcie.link.width.current": ("PCIe lanes", "1"),
    "pcie.link.gen.max": ("highest PCIe generation", "1"),
    "pcie.link.width.max": ("most PCIe lanes", "1"),
}  # fmt: skip
_LEAST_COLUMNS = 2
_MONITOR = late(r"^#\s*(?:Time\s+)?gpu\s+(?=.*\b(?:pwr|pclk|sm)\b)[a-z]\w*(?:\s+[a-z]\w*)*\s*$")
_MONITORED = {
    "pwr": ("power", "W"), "gtemp": ("temperature", "°C"), "temp": ("temperature", "°C"),
    "sm": ("busy", "%"), "mclk": ("memory clock", "MHz"), "pclk": ("clock", "MHz"),
}  # fmt: skip


@dataclass
class _Run(Run):
    """One call; `columns` of CSV, `gpu` of the row of the table that was begun."""

    gpu: int = -1
    columns: tuple[str, ...] = ()
    rows: int = 0
    monitored: tuple[str, ...] = ()  # columns of dmon


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("|"):
        if found := _NAMED.match(text):
            if int(found["gpu"]) <= run.gpu:
                run = reading.begin()
            run.gpu = int(found["gpu"])
            run.facts.setdefault("device", found["name"].strip())
            if errors := _ECC.search(text):
                of = {"gpu": run.gpu}
                reading.add("uncorrected ECC errors", errors["count"], "errors", "sample", of)
        elif found := _STATE.match(text):
            run.gpu = max(run.gpu, 0)
            of = {"gpu": run.gpu}
            reading.add("temperature", found["temperature"], "°C", "sample", of)
            reading.add("performance state", found["state"], "1", "sample", of)
            reading.add("power", found["draw"], "W", "sample", of)
            reading.add("power limit", found["limit"], "W", "sample", of)
            reading.add("memory used", found["used"], "MiB", "sample", of)
            reading.add("memory", found["whole"], "MiB", "sample", of)
            if found["busy"]:
                reading.add("busy", found["busy"], "%", "sample", of)
        return
    if _HEAD.match(text):
        columns = [cell.split(" [")[0].strip("# ") for cell in text.split(", ")]
        if sum(column in _NAMES for column in columns) >= _LEAST_COLUMNS:
            run = reading.begin(columns=tuple(columns))
        return
    if text.startswith("#"):
        if _MONITOR.match(text) and (names := tuple(text.strip("# ").split())) != run.monitored:
            reading.begin(monitored=names)
        return
    if run.monitored:
        _second(reading, text.split())
        return
    if run.columns:
        cells = next(csv.reader([text], skipinitialspace=True), [])
        if len(cells) != len(run.columns):
            run.columns = ()
            return
        _row(reading, cells)


def _row(reading: Reading[_Run], cells: list[str]) -> None:
    run = reading.run
    named = dict(zip(run.columns, map(str.strip, cells), strict=True))
    of: dict[str, Any] = {"interval": run.rows}
    if (index := named.get("index", "")).isdecimal():
        of["gpu"] = int(index)
    if name := named.get("name", named.get("gpu_name", "")):
        run.facts.setdefault("device", name)
    run.rows += 1
    for column, cell in named.items():
        found = _CELL.fullmatch(cell)
        if found and column in _NAMES:
            name, unit = _NAMES[column]
            reading.add(name, found["value"], unit, "sample", of)


def _second(reading: Reading[_Run], cells: list[str]) -> None:
    """A row of dmon; its head comes again every few rows."""
    run = reading.run
    named = dict(zip(run.monitored, cells, strict=False))
    if len(cells) != len(run.monitored) or not named["gpu"].isdecimal():
        return
    of = {"interval": run.rows, "gpu": int(named["gpu"])}
    run.rows += 1
    for column, (name, unit) in _MONITORED.items():
        if _CELL.fullmatch(cell := named.get(column, "")):
            reading.add(name, cell, unit, "sample", of)


read = LineReader(TOOL, _Run, _line)

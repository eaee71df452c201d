"""CUDA's bandwidthTest: its tables, a line of --csv, sweeps, pageable and pinned memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import half_digit, unmarked, unremarked
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "bandwidthtest"
_START = late(
    r"\[?CUDA Bandwidth Test\] - Starting|\[CUDA Bandwidth Test\]|"
    r"^\s*(?:\./)?(?:ocl)?bandwidthTest(?:\.exe|\.cu)? Starting",
    re.I,
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
_WAYS = {"H2D": "host to device", "D2H": "device to host", "D2D": "device to device"}
_NAMES = "Running on..."  # what the device's name follows
_FAILED = late(r"Result = FAIL")


@dataclass
class _Run(Run):
    """One start."""

    way: str = ""
    memory: str = ""
    unit: str = ""
    devices: int = 1  # that one rate is the sum of
    is_named: bool = False  # whether the next line is the device's name
    filled: bool = False  # whether its table has rows: another head is that of another table

    def finish(self) -> bool:
        """Say what its MB are; a run from the first line is named by its first figure."""
        self.line = 0 if self.line == 1 else self.line
        if any(result.unit == "MiB/s" for result in self.results):
            self.notes.append("its MB/s are of 2^20 bytes")
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _CSV.search(text):
        _separated(reading, found)
    elif found := _TITLE.search(text):
        run.way, run.unit = f"{found['from']} to {found['to']}".lower(), ""
        run.memory = _memory(_OLD_MEMORY.search(text))
        run.devices, run.filled = int(found["devices"] or 1), False
    elif found := _MEMORY.search(text):
        _untitled(run)
        run.memory = _memory(found)
    elif found := _UNIT.search(text):
        _untitled(run)
        run.unit = _MEANT[found["unit"]]
    elif run.way and run.unit and (found := _ROW.match(unremarked(text))):
        of: dict[str, Any] = {"message_bytes": int(found["size"])}
        if run.devices > 1:  # it measures one after the other, and adds
            of |= {"devices": run.devices, "summed_of": "mean"}
        run.filled |= _add(reading, run.way, run.memory, found["rate"], run.unit, of)
    else:
        run.unit = ""  # the table has ended: rows may follow that another tool printed
        if found := _DEVICE.search(text):
            run.facts.setdefault("device", found["name"])
        elif run.is_named and not text.rstrip().endswith("Mode"):
            run.facts.setdefault("device", text.strip())  # as oclBandwidthTest does
        elif _FAILED.search(text):
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


def _separated(reading: Reading[_Run], found: re.Match[str]) -> None:
    """Times have five decimals: of a short transfer nothing is left of them."""
    memory = (found["memory"] or "").lower()
    memory = "pageable" if memory.startswith("page") else memory
    size, took = int(found["size"]), float(found["time"])
    of: dict[str, Any] = {"message_bytes": size, "took_s": took}
    if took > 0:
        of |= {"bytes_moved": size, "elapsed_s": took, "elapsed_error_s": half_digit(found["time"])}
    rate, unit = float(found["rate"]), _MEANT[found["unit"]]
    if unit == "MiB/s" and took >= _EXACT_S and rate > 0 and size / took / rate <= 1.024e6:
        unit = "MB/s"
    _add(reading, _WAYS[found["way"]], memory, rate, unit, of)


def _add(
    reading: Reading[_Run], way: str, memory: str, rate: str | float, unit: str, of: dict[str, Any]
) -> bool:
    of["direction"] = way
    if memory and "host" in way:
        of["host_memory"] = memory
    return reading.add(f"{way} copy", rate, unit, "mean", of)


def _uncommented(text: str) -> str:
    """A line without the mark of a comment: people keep such tables in their scripts."""
    return unmarked(text) if text.lstrip()[:1] == "#" else text


read = LineReader(TOOL, _Run, _line, _START, clean=_uncommented)

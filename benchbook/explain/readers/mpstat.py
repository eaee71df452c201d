"""mpstat, sar -u and the avg-cpu of iostat: shares of the CPU time, of all CPUs and of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "mpstat"
COLUMNS = {
    "%usr": "user", "%user": "user", "%nice": "nice", "%sys": "system", "%system": "system",
    "%iowait": "waiting for disks", "%irq": "interrupts", "%soft": "soft interrupts",
    "%steal": "stolen", "%guest": "guests", "%gnice": "nice guests", "%idle": "idle",
}  # fmt: skip
_NUMBER = late(r"\d{1,3}[.,]\d{1,2}")
_WHOLE = (95.0, 105.0)  # what the shares of a row add up to


@dataclass
class _Run(Run):
    """One start; `columns`: those of the table that is being read."""

    tool: str = TOOL
    columns: tuple[str, ...] = ()
    is_parted: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    words = text.split()
    if "%idle" in words and any(word in ("%usr", "%user") for word in words):
        tool = "iostat avg-cpu" if "avg-cpu:" in words else "sar" if "%user" in words else TOOL
        if run.results and (run.is_parted or run.tool != tool):
            run = reading.begin()
        run.tool, run.is_parted = tool, False
        run.columns = tuple(word for word in words if word in COLUMNS)
        run.line = run.line or reading.line.number
    elif run.columns and not _row(reading, words):
        run.is_parted = bool(run.results)
        run.columns = ()


def _row(reading: Reading[_Run], words: Sequence[str]) -> bool:
    """Whether it is a row of the table; it is read from its end."""
    run = reading.run
    cells = words[-len(run.columns) :]
    if len(cells) < len(run.columns) or not all(map(_NUMBER.fullmatch, cells)):
        return False
    values = [reading.number(cell) or 0.0 for cell in cells]
    if not _WHOLE[0] <= sum(values) <= _WHOLE[1]:
        return False
    before = words[: -len(run.columns)]
    of: dict[str, Any] = {}
    if run.tool != "iostat avg-cpu":
        if not before or not (before[-1] == "all" or before[-1].isdecimal()):
            return False
        if before[-1].isdecimal():
            of["core"] = int(before[-1])
        if before[0].startswith("Average"):
            of["is_average"] = True
    for column, value in zip(run.columns, values, strict=True):
        reading.add(COLUMNS[column], value, "%", GIVEN, of)
    return True


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each start, called as its head shows."""
    return [run.report(run.tool) for run in _READER.runs(log)]

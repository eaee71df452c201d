"""tinybench of JavaScript: the table of its tasks, as consoles print it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "tinybench"
_BARS = late(r"[│|]")
_CELL = late(
    r"(?P<value>\d[\d,]*(?:\.\d+)?)(?: ?± ?(?:(?P<percent>\d+(?:\.\d+)?) ?%|\d+(?:\.\d+)?))?"
)
_MARGIN = late(r"± ?(?P<percent>\d+(?:\.\d+)?) ?%")
_UNIT = late(r"\((?P<unit>ns|us|µs|ms|s)\)")


@dataclass
class _Run(Run):
    """A table with its heads in small letters."""

    heads: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    if "│" not in text and "|" not in text:
        return
    cells = [cell.strip().strip("'") for cell in _BARS.split(text.strip().strip("│|"))]
    heads = [cell.lower() for cell in cells]
    if "task name" in heads:
        reading.begin(heads=heads)
        return
    if len(cells) == len(reading.run.heads):
        _row(reading, dict(zip(reading.run.heads, cells, strict=True)))


def _row(reading: Reading[_Run], row: dict[str, str]) -> None:
    name = row["task name"]
    of: dict[str, Any] = {"benchmark": name}
    if row.get("samples", "").isdecimal():
        of["repetitions"] = int(row["samples"])
    for head, text in row.items():
        found = _CELL.fullmatch(text)
        if found is None:
            continue
        statistic = "median" if "median" in head or " med" in head else "mean"
        value = float(found["value"].replace(",", ""))
        if "ops/s" in head:
            called, unit = f"{name} rate", "operations/s"
        elif ("time" in head or "latency" in head) and (unit_of := _UNIT.search(head)):
            called, unit = name, unit_of["unit"].replace("µ", "u")
        else:
            continue
        reading.add(called, value, unit, statistic, of)
        margin = _MARGIN.fullmatch(row.get("margin", "")) if unit != "operations/s" else None
        percent = found["percent"] or (margin["percent"] if margin else None)
        if percent:
            reading.add(called, float(f"{value * float(percent) / 100:.6g}"), unit, "error", of)


read = LineReader(TOOL, _Run, _line)

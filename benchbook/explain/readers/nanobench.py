"""nanobench of C++: the median time of an operation, its error, and what its counters say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import time_of

TOOL = "nanobench"
_TIME = late(r"(?P<unit>ps|ns|us|µs|ms|s)/\S.*")
_RATE = late(r"\S.*/s")
_UNSTABLE = late(r"\(Unstable with ~(?P<count>[\d.,]+) \S+\. Increase")
_COUNTERS = {"ins": "instructions", "cyc": "cycles", "bra": "branches"}
_LEAST = 4  # columns


@dataclass
class _Run(Run):
    """A table with its heads."""

    heads: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    if "|" not in text:
        return
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    if "err%" in cells and len(cells) >= _LEAST and any(map(_TIME.fullmatch, cells)):
        reading.begin(heads=cells)
        return
    run = reading.run
    if not run.heads or set(text) <= set("|:- "):
        return
    figures = cells[: len(run.heads) - 1]
    if len(cells) < len(run.heads):
        return
    name = "|".join(cells[len(run.heads) - 1 :]).strip()
    unstable = _UNSTABLE.search(name)
    if "`" in name:
        name = name.split("`")[1] or "benchmark"
    _row(reading, name, dict(zip(run.heads, figures, strict=False)))
    if unstable:
        run.facts.setdefault("said_unstable_rows", []).append((name, reading.line.number))


def _row(reading: Reading[_Run], name: str, row: dict[str, str]) -> None:
    of: dict[str, Any] = {"benchmark": name}
    error = reading.number(row.get("err%", "").rstrip("%"))
    for head, text in row.items():
        value = reading.number(text.rstrip("%"))
        if value is None:
            continue
        if found := _TIME.fullmatch(head):
            figure, unit = time_of(value, found["unit"])
            reading.add(name, figure, unit, "median", of)
            if error is not None:
                reading.add(name, float(f"{figure * error / 100:.6g}"), unit, "error", of)
        elif _RATE.fullmatch(head):
            reading.add(f"{name} rate", value, "operations/s", "", of)
        elif head.partition("/")[0] in _COUNTERS:
            kind = _COUNTERS[head.partition("/")[0]]
            reading.add(f"{name} {kind}", value, f"{kind}/operation", "", of)
        elif head == "total":
            reading.add(f"{name} total", value, "s", "total", of)
        elif head == "relative":
            reading.add(f"{name} relative", value, "%", "ratio", of)


read = LineReader(TOOL, _Run, _line)

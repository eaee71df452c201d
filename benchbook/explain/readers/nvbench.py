"""nvbench: rows of its tables, each with the axes that it is of, and comparisons of two runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, scaled, time_of

TOOL = "nvbench"
_TIME = late(rf"(?P<value>-?\d+(?:\.\d+)?) (?P<unit>{UNIT})")
_PERCENT = late(r"(?P<value>-?\d+(?:\.\d+)?)%")
_RATE = late(r"(?P<value>\d+(?:\.\d+)?) (?P<unit>[KMGT]?B/s)")
_ITEMS = late(r"(?P<value>\d+(?:\.\d+)?)(?P<prefix>[KMGT]?)")
_SAMPLES = late(r"(?P<count>\d+)x")
# Heads of figures: their name, and the statistic of it.
_TIMES = {
    "CPU Time": ("CPU time", "mean"), "GPU Time": ("GPU time", "mean"),
    "Batch GPU": ("batched GPU time", "mean"), "Min GPU Time": ("GPU time", "min"),
    "Max GPU Time": ("GPU time", "max"), "Min CPU Time": ("CPU time", "min"),
    "Max CPU Time": ("CPU time", "max"),
}  # fmt: skip
_OTHER = frozenset((
    "Samples", "Noise", "Elem/s", "GlobalMem BW", "BWUtil", "Duration (s)", "DataSize",
    "Clock Rate", "Clock Scaling", "Ref Time", "Ref Noise", "Cmp Time", "Cmp Noise", "Diff",
    "%Diff", "Status", "peak_memory_usage",
))  # fmt: skip
_SIDES = {"Ref": "old", "Cmp": "new"}


@dataclass
class _Run(Run):
    """A table with its heads; `axes` are the columns that say what a row is of."""

    heads: list[str] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    if "|" not in text:
        return
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    if "GPU Time" in cells or "Cmp Time" in cells or "Min GPU Time" in cells:
        known = _OTHER.union(_TIMES)
        first = next(at for at, cell in enumerate(cells) if cell in known - {"DataSize"})
        reading.begin(heads=cells, axes=list(range(first)))
        return
    run = reading.run
    if not run.heads or len(cells) != len(run.heads) or set(text) <= set("|:- "):
        return
    axes = [f"{run.heads[at]}={cells[at]}" for at in run.axes if cells[at]]
    name = " ".join(axes) or "kernel"
    if "Cmp Time" in run.heads:
        _compared(reading, name, dict(zip(run.heads, cells, strict=True)))
    else:
        _row(reading, name, list(zip(run.heads, cells, strict=True)))


def _row(reading: Reading[_Run], name: str, cells: list[tuple[str, str]]) -> None:
    of: dict[str, Any] = {"benchmark": name}
    last = ""
    for head, text in cells:
        if head == "Samples" and (found := _SAMPLES.fullmatch(text)):
            of = {**of, "repetitions": int(found["count"])}
        elif head in _TIMES and (found := _TIME.fullmatch(text)):
            last, statistic = _TIMES[head]
            value = time_of(float(found["value"]), found["unit"])
            reading.add(f"{name} {last}", *value, statistic, of)
        elif head == "Noise" and last and (found := _PERCENT.fullmatch(text)):
            reading.add(f"{name} {last} noise", found["value"], "%", "", of)
        elif head == "GlobalMem BW" and (found := _RATE.fullmatch(text)):
            reading.add(f"{name} memory rate", found["value"], found["unit"], "", of)
        elif head == "BWUtil" and (found := _PERCENT.fullmatch(text)):
            reading.add(f"{name} share of the memory's peak", found["value"], "%", "", of)
        elif head.lower().endswith("/s") and (found := _ITEMS.fullmatch(text)):
            rate = scaled(float(found["value"]), found["prefix"])
            unit = "rows/s" if "row" in head.lower() else "items/s"
            rate *= 1e6 if head.startswith("M") else 1
            reading.add(f"{name} rate", rate, unit, "", of)


def _compared(reading: Reading[_Run], name: str, row: dict[str, str]) -> None:
    for head, side in _SIDES.items():
        found = _TIME.fullmatch(row.get(f"{head} Time", ""))
        if found is None:
            continue
        of = {"benchmark": name, "build": side}
        value, unit = time_of(float(found["value"]), found["unit"])
        reading.add(f"{name} {side}", value, unit, "mean", of)
        if noise := _PERCENT.fullmatch(row.get(f"{head} Noise", "")):
            spread = float(f"{value * float(noise['value']) / 100:.6g}")
            reading.add(f"{name} {side}", spread, unit, "stddev", of)
    if change := _PERCENT.fullmatch(row.get("%Diff", "")):
        reading.add(f"{name} change", change["value"], "%", "change", {"benchmark": name})


read = LineReader(TOOL, _Run, _line)

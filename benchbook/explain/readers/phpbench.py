"""PHPBench: its tables of subjects with mode, best, worst and mean of their iterations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "phpbench"
_TIME = late(rf"(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{UNIT})")
_PERCENT = late(r"±?(?P<value>\d+(?:\.\d+)?)%")
_BYTES = late(r"(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>b|kb|mb|gb)", re.I)
_TIMES = late(r"(?P<value>\d+(?:\.\d+)?)x")
_STATISTICS = {"best": "min", "mean": "mean", "mode": "mode", "worst": "max", "stdev": "stddev"}
_UNITS = {"b": "B", "kb": "kB", "mb": "MB", "gb": "GB"}
_LEAST = {"subject", "its"}


@dataclass
class _Run(Run):
    """A table with its heads."""

    heads: list[str] = field(default_factory=list)


_N = r"\d+(?:\.\d*)?"
_PROGRESS = late(
    r"^(?P<name>\S.{0,120}?)\.*R\d{1,3} I\d{1,4} (?:P\d{1,3} )?(?:[-✔✘✓] )?"
    rf"(?:\[Mo(?P<new>{_N})(?P<unit>{UNIT}) vs\. Mo(?P<old>{_N})(?P<old_unit>{UNIT})\] "
    rf"(?P<change>[-+]?{_N})%|Mo(?P<mode>{_N})(?P<mode_unit>{UNIT})) "
    rf"\(±(?P<percent>{_N})%\)$"
)


def _progress(reading: Reading[_Run], found: re.Match[str]) -> None:
    """What is printed of a subject while it runs: its mode, and that of a run before."""
    name = found["name"].rstrip(" .")
    of: dict[str, Any] = {"benchmark": name}
    if found["mode"]:
        value, unit = time_of(float(found["mode"]), found["mode_unit"])
        reading.add(name, value, unit, "mode", of)
    else:
        old = time_of(float(found["old"]), found["old_unit"])
        value, unit = time_of(float(found["new"]), found["unit"])
        reading.add(f"{name} old", *old, "mode", {**of, "build": "old"})
        name, of = f"{name} new", {**of, "build": "new"}
        reading.add(name, value, unit, "mode", of)
        reading.add(f"{of['benchmark']} change", found["change"], "%", "change", of)
    deviation = float(f"{value * float(found['percent']) / 100:.6g}")
    reading.add(name, deviation, unit, "stddev", of)


def _line(reading: Reading[_Run], text: str) -> None:
    if "±" in text and (found := _PROGRESS.match(text)):
        _progress(reading, found)
        return
    if "|" not in text:
        return
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    if "rstdev" in cells and _LEAST.issubset(cells):
        reading.begin(heads=cells)
        return
    run = reading.run
    if run.heads and len(cells) == len(run.heads) and not set(text) <= set("|+- "):
        _row(reading, dict(zip(run.heads, cells, strict=True)))


def _row(reading: Reading[_Run], row: dict[str, str]) -> None:
    named = (row.get("benchmark"), row["subject"], row.get("set"))
    name = " ".join(part for part in named if part and part != "0") or "subject"
    of: dict[str, Any] = {"benchmark": name}
    for head, column in (("its", "repetitions"), ("revs", "iterations")):
        if row.get(head, "").isdecimal():
            of[column] = int(row[head])
    values: dict[str, tuple[float, str]] = {}
    for head, statistic in _STATISTICS.items():
        if found := _TIME.fullmatch(row.get(head, "")):
            values[statistic] = time_of(float(found["value"].replace(",", "")), found["unit"])
            reading.add(name, *values[statistic], statistic, of)
    spread = _PERCENT.fullmatch(row["rstdev"])
    middle = values.get("mean") or values.get("mode")
    if spread and middle and "stddev" not in values:
        deviation = float(f"{middle[0] * float(spread['value']) / 100:.6g}")
        reading.add(name, deviation, middle[1], "stddev", of)
    if found := _BYTES.fullmatch(row.get("mem_peak", "")):
        unit = _UNITS[found["unit"].lower()]
        reading.add(f"{name} memory", found["value"], unit, "max", of)
    if found := _TIMES.fullmatch(row.get("diff", "")):
        reading.add(f"{name} ratio", found["value"], "1", "ratio", of)


read = LineReader(TOOL, _Run, _line)

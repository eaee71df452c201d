"""tasty-bench of Haskell: the mean of each benchmark, its deviation, what it allocates, and how it
compares with a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "tasty-bench"
_TIME = (
    rf"(?P<mean>\d+(?:\.\d+)?) (?P<unit>{UNIT}) ± *"
    rf"(?P<spread>\d+(?:\.\d+)?) (?P<spread_unit>{UNIT})"
)
_ROW = late(rf"^(?:(?P<name>\S.{{0,200}}?): +OK(?: \([\d.]+s\))? +)?{_TIME}(?P<rest>,.*)?$")
_NAME = late(r"^(?P<name>\S.{0,200}?): +OK(?: \([\d.]+s\))?$")
_ALLOCATED = late(r"\b(?P<value>\d+(?:\.\d+)?) +(?P<unit>[KMG]?B) +allocated")
_BASELINE = late(
    r"\b(?P<percent>\d+(?:\.\d+)?)% (?P<how>slower|faster|more|less) than baseline"
    r"|(?P<same>same as baseline)"
)
_UNITS = {"KB": "KiB", "MB": "MiB", "GB": "GiB", "B": "B"}  # as its manual has it


@dataclass
class _Run(Run):
    """All benchmarks of a log; `name` is that of the last."""

    line: int = 0
    name: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _NAME.match(text):
        run.name = found["name"]
        return
    if "±" not in text or (found := _ROW.match(text)) is None:
        return
    rest = found["rest"] or ""
    if not (found["name"] or run.name or "baseline" in rest or "allocated" in rest):
        return
    name = found["name"] or run.name or "benchmark"
    of: dict[str, Any] = {"benchmark": name}
    for statistic, part in (("mean", "mean"), ("stddev", "spread")):
        unit = found["unit"] if part == "mean" else found["spread_unit"]
        reading.add(name, *time_of(float(found[part]), unit), statistic, of)
    if allocated := _ALLOCATED.search(rest):
        unit = _UNITS[allocated["unit"]]
        reading.add(f"{name} allocated", allocated["value"], unit, "", of)
    if (change := _BASELINE.search(rest)) and change["percent"]:
        sign = -1 if change["how"] in ("faster", "less") else 1
        reading.add(f"{name} change", sign * float(change["percent"]), "%", "change", of)


read = LineReader(TOOL, _Run, _line)

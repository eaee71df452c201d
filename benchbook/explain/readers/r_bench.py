"""bench::mark of R: minimum, median, rate and memory of each expression of its tibble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "r-bench"
_HEAD = late(r"^(?:# )?expression\s+min\s+median\s+`?itr/sec`?\s.*$")
_ROW = late(
    rf"^(?:\d+ )?(?P<name>\S.{{0,200}}?)\s+(?P<min>\d+(?:\.\d+)?)(?P<min_unit>{UNIT})\s+"
    rf"(?P<median>\d+(?:\.\d+)?)(?P<median_unit>{UNIT})\s+(?P<rate>\d[\d,]*\.?\d*)"
    r"(?:\s+(?P<bytes>\d+(?:\.\d+)?)(?P<bytes_unit>[KMG]?B)\b)?(?:\s.*)?$"
)
_UNITS = {"B": "B", "KB": "KiB", "MB": "MiB", "GB": "GiB"}  # powers of 1,024, as its manual has it


@dataclass
class _Run(Run):
    """A tibble."""


def _line(reading: Reading[_Run], text: str) -> None:
    if "itr/sec" in text and _HEAD.match(text):
        reading.begin()
        return
    if not reading.run.line or (found := _ROW.match(text)) is None:
        return
    name = found["name"]
    of: dict[str, Any] = {"benchmark": name}
    for statistic in ("min", "median"):
        value = time_of(float(found[statistic]), found[f"{statistic}_unit"])
        reading.add(name, *value, statistic, of)
    rate = float(found["rate"].replace(",", ""))
    reading.add(f"{name} rate", rate, "operations/s", "", of)
    if found["bytes"]:
        reading.add(f"{name} memory", found["bytes"], _UNITS[found["bytes_unit"]], "", of)


read = LineReader(TOOL, _Run, _line)

"""Benchmark.js: operations a second of each benchmark, with the error of its mean in per cent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "benchmark.js"
_ROW = late(
    r"^(?:[-+*>✓✔] +|\d{1,3} )?['\"]?"
    r"(?P<name>\S.{0,200}?) x (?P<rate>\d[\d,]*(?:\.\d+)?) ops/sec (?:±|\+/-|\+-) ?"
    r"(?P<percent>\d+(?:\.\d+)?)% \((?P<runs>\d+) runs? sampled\)(?:['\"][ ,'\"]*)?$"
)
# Which of two builds it is, where somebody wrote that before the name or behind it.
_SIDE = late(
    r"^(?:(?P<before>[\w-]{2,20}): (?P<rest>.+)|(?P<name>.+?) [(\[](?P<behind>[\w-]{2,20})[)\]])$"
)
_SIDES = {
    "old": "old", "previous": "old", "before": "old", "baseline": "old", "master": "old",
    "main": "old", "new": "new", "latest": "new", "after": "new", "current": "new", "pr": "new",
}  # fmt: skip


@dataclass
class _Run(Run):
    """All rows of a log."""

    line: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    if "sampled)" not in text or (found := _ROW.match(text)) is None:
        return
    name = found["name"]
    of: dict[str, Any] = {"benchmark": name, "repetitions": int(found["runs"])}
    side = _SIDE.match(name)
    build = _SIDES.get((side["before"] or side["behind"]).lower()) if side else None
    if side and build:
        name = f"{side['rest'] or side['name']} {build}"
        of |= {"benchmark": side["rest"] or side["name"], "build": build}
    rate = reading.number(found["rate"])
    if rate is not None:
        reading.add(name, rate, "operations/s", "mean", of)
        reading.add(name, rate * float(found["percent"]) / 100, "operations/s", "error", of)


read = LineReader(TOOL, _Run, _line)

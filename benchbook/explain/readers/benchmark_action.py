"""github-action-benchmark: its tables of two commits, the current one before the previous one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import NUMBER, UNIT, time_of

TOOL = "benchmark-action"
_HEAD = late(r"^\| *Benchmark suite *\| *Current: *\S+ *\| *Previous: *\S+ *\| *Ratio *\|?$")
_FIGURE = late(
    rf"^(?P<value>{NUMBER}) ?(?P<unit>\S+)?"
    rf"(?: ?\((?:± ?|stddev: ?)?(?P<spread>{NUMBER})(?P<percent>%?)\))?"
)
_TIME = late(rf"(?P<unit>{UNIT})(?:/(?:iter|op|ops))?")
_RATE = late(r"(?:iter|ops?|operations?)/s(?:ec)?")
_RATIO = late(r"\d+(?:\.\d+)?")


@dataclass
class _Run(Run):
    """A table."""


def _line(reading: Reading[_Run], text: str) -> None:
    if _HEAD.match(text):
        reading.begin()
        return
    if not reading.run.line or text[0] != "|":
        return
    cells = [cell.strip().replace("`", "") for cell in text.strip("|").split("|")]
    if len(cells) != 4 or not cells[0].strip("-: "):
        return
    name = cells[0]
    for side, cell in (("new", cells[1]), ("old", cells[2])):
        if found := _FIGURE.match(cell):
            of: dict[str, Any] = {"benchmark": name, "build": side}
            value = float(found["value"].replace(",", ""))
            factor, unit = _unit(found["unit"] or "")
            reading.add(f"{name} {side}", value * factor, unit, "mean", of)
            # Of rates a deviation in seconds is that of a run.
            if found["spread"] and unit != "operations/s" and not found["percent"]:
                spread = float(found["spread"].replace(",", ""))
                reading.add(f"{name} {side}", spread * factor, unit, "range", of)
    if _RATIO.fullmatch(cells[3]):
        reading.add(f"{name} ratio", cells[3], "1", "ratio", {"benchmark": name})


def _unit(text: str) -> tuple[float, str]:
    """What a value is multiplied by, and its unit."""
    if found := _TIME.fullmatch(text):
        return time_of(1.0, found["unit"])
    return 1.0, "operations/s" if _RATE.fullmatch(text) else "1"


read = LineReader(TOOL, _Run, _line)

"""asv (airspeed velocity): what `asv continuous` and `asv compare` print of two commits, in all
forms of their tables, and the lines of single benchmarks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "asv"
_SIZES = {"": "B", "k": "kB", "M": "MB", "G": "GB"}  # of memory, as peakmem_x has it
_VALUE = rf"(?:\d+(?:\.\d+)?(?:±\d+(?:\.\d+)?)?(?:{UNIT}|[kMG])?|failed|n/a|None)"
_PARTS = late(rf"(?P<value>\d+(?:\.\d+)?)(?:±(?P<error>\d+(?:\.\d+)?))?(?P<unit>{UNIT}|[kMG]?)")
_HEAD = late(r"^\s*before\s+after\s+ratio\b")
_ROW = late(
    rf"^(?P<mark>[-+!x*]?)\s*(?P<old>{_VALUE})\s+(?P<new>{_VALUE})\s+(?P<ratio>~?\d+(?:\.\d+)?|n/a|inf)"
    r"\s+(?P<name>\S.*)$"
)
_MARKDOWN_HEAD = late(r"^\| *(?:Change *\| *)?Before\b.*\| *After\b.*\| *Ratio *\|")
_MARKDOWN = late(
    rf"^\| *(?P<mark>[-+!x*]?) *\| *(?P<old>{_VALUE}) *\| *(?P<new>{_VALUE}) *\| *"
    r"(?P<ratio>~?\d+(?:\.\d+)?|n/a|inf) *\| *(?P<name>[^|\s][^|]*?) *(?:\||$)"
)
_OLD_HEAD = late(r"^BENCHMARK\s+BEFORE\s+AFTER\s+FACTOR$")
_OLD = late(
    rf"^(?P<name>\S.{{0,300}}?)\s+(?P<old>{_VALUE})\s+(?P<new>{_VALUE})\s+(?P<ratio>\d+(?:\.\d+)?)x$"
)
# A benchmark by itself: `[ 50.00%] ··· strings.time_cat   12.3±0.1ms`.
_ALONE = late(rf"^\[ *\d+\.\d+%\] ··· (?:Running )?(?P<name>[\w.]+\.[\w.]+)\s+(?P<value>{_VALUE})$")


@dataclass
class _Run(Run):
    """A table, or the benchmarks of a run; `rows` is the pattern of the rows below its head."""

    line: int = 0
    rows: re.Pattern[str] | None = None
    failed: list[str] = field(default_factory=list)

    def finish(self) -> bool:
        """Keep what failed, if anything was compared."""
        if self.failed:
            self.facts["failed_benchmarks"] = self.failed
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    for head, rows in ((_HEAD, _ROW), (_MARKDOWN_HEAD, _MARKDOWN), (_OLD_HEAD, _OLD)):
        if head.match(text):
            reading.begin(rows=rows).line = reading.line.number
            return
    if run.rows is not None and (found := run.rows.match(text)):
        _compared(reading, found)
    elif "···" in text and (found := _ALONE.match(text)):
        _figure(reading, found["name"], found["value"], {"benchmark": found["name"]})


def _compared(reading: Reading[_Run], found: re.Match[str]) -> None:
    name = found["name"].rstrip()
    sides = {"old": found["old"], "new": found["new"]}
    for side, text in sides.items():
        of = {"benchmark": name, "build": side}
        if not _figure(reading, f"{name} {side}", text, of):
            reading.run.failed.append(f"line {reading.line.number}: {name} ({side}: {text})")
    ratio = found["ratio"].removeprefix("~")
    if ratio[0].isdecimal():
        reading.add(f"{name} ratio", ratio, "1", "ratio", {"benchmark": name})


def _figure(reading: Reading[_Run], name: str, text: str, of: dict[str, Any]) -> bool:
    """Add a figure with its error; whether it is one."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return False
    for part, statistic in (("value", "median"), ("error", "error")):
        if found[part] is not None:
            if found["unit"] in _SIZES:
                reading.add(name, found[part], _SIZES[found["unit"]], statistic, of)
            else:
                reading.add(name, *time_of(float(found[part]), found["unit"]), statistic, of)
    return True


read = LineReader(TOOL, _Run, _line)

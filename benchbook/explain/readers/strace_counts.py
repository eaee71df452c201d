"""strace -c: calls into the kernel by their names, with times and errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "strace"
_HEAD = late(r"^% time +seconds +usecs/call +calls +errors +syscall$")
_STARTED = late(r"^(?:\S{0,60}[$#%] +)?(?:sudo +)?strace +-")
_ROW = late(
    r"^(?P<share>\d{1,3}\.\d\d) +(?P<seconds>\d+\.\d{6}) +(?:(?P<each>\d{1,12}) +)?"
    r"(?P<calls>\d{1,15})(?: +(?P<errors>\d{1,15}))? +(?P<name>[a-z_][\w]{1,40})$"
)


@dataclass
class _Run(Run):
    """One summary; `has_head`: whether the head of its columns was seen."""

    has_head: bool = False
    calls: int = 0
    started: int = 0

    def finish(self) -> bool:
        """Keep where its command stands."""
        if self.started:
            self.facts["watched_line"] = self.started
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if _STARTED.match(text):
        reading.above["started"] = reading.line.number
        return
    if "usecs/call" in text and _HEAD.match(text[max(0, text.find("% time")) :]):
        reading.begin(has_head=True)
        return
    run = reading.run
    if run.has_head and (found := _ROW.match(text)):
        name = found["name"]
        if name == "total":
            run.has_head = False
            _total(reading, found)
            return
        of: dict[str, Any] = {"label": name}
        run.calls += int(found["calls"])
        reading.add(f"{name} calls", float(found["calls"]), "calls", GIVEN, of)
        reading.add(f"{name} time", float(found["seconds"]), "s", GIVEN, of)
        if found["errors"]:
            reading.add(f"{name} errors", float(found["errors"]), "calls", GIVEN, of)


def _total(reading: Reading[_Run], found: re.Match[str]) -> None:
    """The last row; some versions leave out its time of a call, so that its numbers move."""
    numbers = [int(found[part]) for part in ("each", "calls", "errors") if found[part]]
    counts = [number for number in numbers if number >= reading.run.calls]
    if reading.run.calls in numbers or len(counts) == 1:
        calls = reading.run.calls if reading.run.calls in numbers else counts[0]
        reading.add("all calls", float(calls), "calls", GIVEN)
    reading.add("time in all", float(found["seconds"]), "s", GIVEN)


def _uncommented(text: str) -> str:
    return text.strip().lstrip("/*>").strip()


read = LineReader(TOOL, _Run, _line, clean=_uncommented)

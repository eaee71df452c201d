"""strace -c: calls into the kernel by their names, with times and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "strace"
_HEAD = late(r"^% time +seconds +usecs/call +calls +errors +syscall$")
_STARTED = late(r"^(?:\S{0,60}[$#%] +)?(?:sudo +)?strace +-")
_SUMMED = late(r"\sstrace(?: +-\S+)* +(?:-[a-zA-Z]*[cC]|--summary)")
_BY_THE_CLOCK = late(r" -[a-zA-Z]*w| --summary-wall-clock")
# Clients whose work another process does, which strace does not follow.
_CLIENT = late(r"\sstrace(?: +-\S+)* +(?:sudo +)?(?:\S*/)?(docker|kubectl|ssh|srun|nerdctl) ")
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
    command: str = ""

    def finish(self) -> bool:
        """Keep where its command stands."""
        if self.started:
            self.facts["watched_line"] = self.started
            self.notes += _of_command(self.command, self.started)
        return bool(self.results)


def _of_command(text: str, line: int) -> Iterator[str]:
    """Notes on what the options of a command leave out of its summary."""
    if _SUMMED.search(text) and not _BY_THE_CLOCK.search(text):
        yield (
            f"line {line}: strace -c without -w sums the CPU time that the kernel spent in the "
            "calls. What they waited is not in it (strace -c -w)"
        )
    if client := _CLIENT.search(text):
        yield (
            f"line {line}: strace saw the client {client[1]} alone. Another process starts the "
            "work, so the calls of that work are not counted here"
        )


def _line(reading: Reading[_Run], text: str) -> None:
    if _STARTED.match(text):
        reading.above |= {"started": reading.line.number, "command": f" {text}"}
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

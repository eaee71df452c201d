"""zpool iostat: operations and bytes of a pool in a second, and what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import commands_of

TOOL = "zpool-iostat"
_HEAD = late(r"^(?:pool +)?capacity +operations +bandwidth\b(?P<more>.*)$")
_COLUMNS = late(r"^(?:pool|vdev) +alloc +free +read +write +read +write\b")
_RULE = late(r"^-[- ]*$")
_FIGURE = r"\d{1,9}(?:[.,]\d{1,3})?[KMGTPE]?"
_ROW = late(
    rf"^(?P<pool>\S{{1,60}}) +(?:{_FIGURE}|-) +(?:{_FIGURE}|-) +(?P<cells>(?:{_FIGURE}|-)(?: +(?:"
    rf"{_FIGURE}(?:ns|us|ms|s)?|-)){{3,30}})$"
)
_MANY = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BYTES = {letter: 1024.0**power for power, letter in enumerate(("", *"KMGTPE"))}
_WAITS = ("total read wait", "total write wait", "disk read wait", "disk write wait")
_TIME = late(r"^(?P<value>\d+(?:[.,]\d+)?)(?P<unit>ns|us|ms|s)$")
_MOST = 2000  # rows


@dataclass
class _Run(Run):
    """One start."""

    of_table: bool = False
    waits: bool = False
    first: str = ""  # the pool of its first row: those of its parts stand below it
    rows: int = 0
    depths: dict[int, int] = field(default_factory=dict)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    commands = commands_of(log, "zpool", "sudo", "watch")
    return LineReader(TOOL, _Run, partial(_line, commands))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        if not run.line or reading.line.number in _starts(commands, run.line, reading):
            run = reading.begin(facts=_asked(commands, reading))
        run.waits = "total_wait" in found["more"]
    elif _COLUMNS.match(text):
        if not run.line:
            run = reading.begin(facts=_asked(commands, reading))
        run.of_table = True
    elif run.of_table and not _RULE.match(text) and (found := _ROW.match(text)):
        run.first = run.first or found["pool"]
        if found["pool"] == run.first and run.rows < _MOST:
            _row(reading, found["cells"].split())


def _row(reading: Reading[_Run], cells: list[str]) -> None:
    run = reading.run
    of: dict[str, Any] = {"interval": run.rows}
    run.rows += 1
    names = (
        ("reads", "operations/s"), ("writes", "operations/s"),
        ("read rate", "B/s"), ("write rate", "B/s"),
    )  # fmt: skip
    for cell, (name, unit) in zip(cells, names, strict=False):
        if cell != "-":
            number, letter = (cell[:-1], cell[-1]) if cell[-1].isalpha() else (cell, "")
            many = (_BYTES if unit == "B/s" else _MANY)[letter]
            value = round(float(number.replace(",", ".")) * many, 6)
            reading.add(name, value, unit, "interval", of)
    for cell, name in zip(cells[4:8] if run.waits else (), _WAITS, strict=False):
        if time := _TIME.match(cell):
            value = float(time["value"].replace(",", "."))
            reading.add(name, value, time["unit"], "interval", of)


def _starts(commands: Sequence[Command], line: int, reading: Reading[_Run]) -> set[int]:
    """The line that is read, if a command stands between it and the head of the last run."""
    command = last_above(commands, reading.line.number)
    return {reading.line.number} if command and command.number > line else set()


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    """Whether the command above asks for intervals; nothing where there is no such command."""
    command = last_above(commands, reading.line.number)
    if command is None or "iostat" not in command.words or "zpool" not in command.words:
        return {}
    behind = command.words[command.words.index("iostat") + 1 :]
    numbers = [word for word in behind if word.replace(".", "", 1).isdecimal()]
    return {"has_interval": bool(numbers)}

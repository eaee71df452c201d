"""vmstat: tasks, memory, swapping, disks and shares of the CPU time, a row for each interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "vmstat"
COLUMNS = {
    "r": ("runnable", "tasks"), "b": ("blocked", "tasks"), "swpd": ("swap in use", "KiB"),
    "free": ("free memory", "KiB"), "buff": ("buffers", "KiB"), "cache": ("cache", "KiB"),
    "inact": ("inactive memory", "KiB"), "active": ("active memory", "KiB"),
    "si": ("swapped in", "KiB/s"), "so": ("swapped out", "KiB/s"),
    "bi": ("read from disks", "KiB/s"), "bo": ("written to disks", "KiB/s"),
    "in": ("interrupts", "interrupts/s"), "cs": ("context switches", "switches/s"),
    "us": ("user", "%"), "sy": ("system", "%"), "id": ("idle", "%"),
    "wa": ("waiting for disks", "%"), "st": ("stolen", "%"), "gu": ("guests", "%"),
}  # fmt: skip
_SHARES = ("us", "sy", "id", "wa", "st")
_WHOLE = (80, 150)  # what the shares add up to


@dataclass
class _Run(Run):
    """One start; `columns`: those of the table that is being read."""

    columns: tuple[str, ...] = ()
    is_parted: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    words = text.split()
    if {"us", "sy", "id"} <= set(words) and "r" in words:
        columns = words[words.index("r") :]
        if run.results and run.is_parted:
            run = reading.begin()
        last = next((n for n, word in enumerate(columns) if word not in COLUMNS), len(columns))
        run.columns, run.is_parted = tuple(columns[:last]), False
        run.line = run.line or reading.line.number
    elif run.columns and not _row(reading, words) and not text.startswith("procs"):
        run.is_parted = bool(run.results)
        run.columns = ()


def _row(reading: Reading[_Run], words: Sequence[str]) -> bool:
    """Whether it is a row of the table: what stands before its numbers is a time, or a program."""
    columns = reading.run.columns
    first = next((n for n, word in enumerate(words) if word.isdecimal()), len(words))
    numbers = words[first : first + len(columns)]
    if len(numbers) < len(columns) or not all(map(str.isdecimal, numbers)):
        return any("---" in word for word in words)
    cells = dict(zip(columns, map(int, numbers), strict=True))
    if not _WHOLE[0] <= sum(cells.get(name, 0) for name in _SHARES) <= _WHOLE[1]:
        return False
    size = "MiB" if _is_in_mib(reading) else "KiB"
    for column, value in cells.items():
        name, unit = COLUMNS[column]
        reading.add(name, float(value), unit.replace("KiB", size), GIVEN)
    return True


def _is_in_mib(reading: Reading[_Run]) -> bool:
    return any(
        "vmstat" in command.words[0] and {"M", "-SM"}.intersection(command.words)
        for command in reading.log.commands
        if command.words
    )


read = LineReader(TOOL, _Run, _line)

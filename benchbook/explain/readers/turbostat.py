"""turbostat: how busy the CPUs were, at which clock and with how much power, of all together and of
each, for each interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import as_float
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "turbostat"
_VERSION = late(r"^turbostat version (?P<version>[\d.]+)")
_UNITS: Mapping[str, str] = {
    "Avg_MHz": "MHz", "Busy%": "%", "%Busy": "%", "Bzy_MHz": "MHz", "TSC_MHz": "MHz", "IPC": "1",
    "IRQ": "interrupts", "SMI": "interrupts", "CoreTmp": "°C", "PkgTmp": "°C", "GFXMHz": "MHz",
    "PkgWatt": "W", "CorWatt": "W", "GFXWatt": "W", "RAMWatt": "W", "SysWatt": "W", "UncMHz": "MHz",
    "Pkg_J": "J", "Cor_J": "J", "RAM_J": "J", "CoreThr": "events",
}  # fmt: skip
_PLACES = ("Package", "Die", "Node", "Core", "CPU", "APIC", "X2APIC", "usec", "Time_Of_Day_Seconds")
_OF_CPU = ("Avg_MHz", "Busy%", "Bzy_MHz", "IPC", "SMI", "CoreTmp", "CorWatt")
_NAMES = {"%Busy": "Busy%"}
# Several columns whose names have lost the space between: the rest is not where it should be.
_COLUMN = late(r"[A-Za-z0-9%_+.-]{1,20}")
_MERGED = late(r"Watt(?=[A-Z])|MHz(?=[A-Z])")
_SHARE = late(r"%(?:c\d|pc\d|rc6)?\d?$")  # of the time in a state
_CELL = late(r"-?\d[\d.]*%?|-|\(neg\)|\*+")
_LIMIT = late(r"\bPKG Limit #1: EN\w*\s*\((?P<watts>\d{1,5}(?:\.\d+)?) Watts")


@dataclass
class _Run(Run):
    """One start; `columns` are those of the table that is being read."""

    columns: tuple[str, ...] = ()
    interval: int = -1


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    words = text.split()
    if "Bzy_MHz" in words and all(map(_COLUMN.fullmatch, words)):
        run.columns = tuple(words)
        run.line = run.line or reading.line.number
        if not {"Core", "CPU"}.intersection(words):
            return
    elif run.columns and words and all(map(_CELL.fullmatch, words)):
        _row(reading, words)
    elif found := _LIMIT.search(text):
        run.facts["power_limit_w"] = float(found["watts"])
        run.facts["power_limit_line"] = reading.line.number
    elif run.columns and not words[0].startswith("turbostat"):
        run.columns = ()  # rows may follow that another tool printed


def _row(reading: Reading[_Run], words: Sequence[str]) -> None:
    run = reading.run
    columns = _alike(run.columns, len(words))
    cells = dict(zip(columns, words, strict=False))
    places = [cells[place] for place in _PLACES[:5] if place in cells]
    is_whole = all(place == "-" for place in places)
    if is_whole:
        run.interval += 1
    own: dict[str, Any] = {"interval": max(0, run.interval)}
    cpu = cells.get("CPU", cells.get("Core", ""))
    if not is_whole:
        if not cpu.isdecimal():
            return
        own["core"] = int(cpu)
    for column, cell in cells.items():
        wanted = column in _UNITS if is_whole else column in _OF_CPU
        value = as_float(cell.rstrip("%")) if wanted else None
        if value is None and is_whole and _SHARE.search(column):
            reading.show(column, cell, "%", of=own)
        if value is not None:
            name = _NAMES.get(column, column)
            reading.add(name, value, _UNITS[column], "sample", own)


def _alike(columns: Sequence[str], cells: int) -> Sequence[str]:
    """The columns that the first cells of a row are of: all of them, or those before a place where
    two names have grown together. Cells are missing only at the end of a row."""
    merged = next((n for n, name in enumerate(columns) if _MERGED.search(name)), len(columns))
    return columns[: min(merged, cells)]


read = LineReader(TOOL, _Run, _line, _VERSION)

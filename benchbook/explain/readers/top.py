"""top, uptime and free: load, shares of the CPU time, memory, swap, and the processes listed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.printed_digits import as_float
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "top"
_LOAD = late(r"\bload averages?: +(?P<one>\d+[.,]\d+),? +(?P<five>\d+[.,]\d+),? +\d+[.,]\d+")
_CPU = late(r"^%?Cpu(?:\(s\)|(?P<core>\d{1,4})) *: *\d")
_PART = late(r"(?P<share>\d{1,3}(?:[.,]\d{1,2})?) ?%? ?(?P<name>us|sy|ni|id|wa|hi|si|st)\b")
_MEMORY = late(
    r"^(?:(?P<unit>[KMG]iB) )?(?P<what>Mem|Swap) *: +(?P<total>[\d.]+)(?P<k>[kmg]?) *total,"
)
_AMOUNT = late(r"(?P<value>\d[\d.]*)[kmg]?[+ ] *(?P<name>free|used|avail(?: Mem)?)\b", re.I)
_FREE_HEAD = late(r"^total +used +free\b")
_FREE_ROW = late(r"^(?P<what>Mem|Swap): +(?P<cells>[\d.]+[KMGT]?i?B?(?: +[\d.]+[KMGT]?i?B?){2,5})$")
_CELL = late(r"(?P<value>[\d.]+)(?P<unit>[KMGT]?)i?B?")
_SHARES = {
    "us": "user", "sy": "system", "id": "idle", "wa": "waiting for disks", "st": "stolen",
    "ni": "nice", "hi": "interrupts", "si": "soft interrupts",
}  # fmt: skip
_SIZES = {"": "B", "k": "KiB", "m": "MiB", "g": "GiB", "K": "KiB", "M": "MiB", "G": "GiB"}
_LEAST_KIB = 1e6  # of memory: so many MiB no machine has
_MOST_PROCESSES = 40


@dataclass
class _Run(Run):
    """One screen of top, or one start of free; `columns`: of the list that is being read."""

    tool: str = TOOL
    columns: tuple[str, ...] = ()
    free_columns: tuple[str, ...] = ()
    processes: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    words = text.split()
    if "load average" in text and (found := _LOAD.search(text)):
        run = reading.begin() if run.results else run
        run.line = run.line or reading.line.number
        run.tool = TOOL if text.startswith("top - ") else "uptime"
        reading.add("load", found["one"].replace(",", "."), "tasks", GIVEN)
        reading.add("load of 5 minutes", found["five"].replace(",", "."), "tasks", GIVEN)
    elif found := _CPU.match(text):
        _shares(reading, found, text)
    elif found := _MEMORY.match(text):
        _memory(reading, found, text)
    elif _FREE_HEAD.match(text):
        run = reading.begin() if run.results else run
        run.tool, run.free_columns = "free", tuple(words)
    elif run.free_columns and (found := _FREE_ROW.match(text)):
        _free(reading, found)
    elif "PID" in words and "%CPU" in words and words[-1].startswith(("COMMAND", "CMD")):
        run.columns, run.tool = tuple(words), TOOL
    elif run.columns and not _process(reading, words):
        run.columns = ()


def _shares(reading: Reading[_Run], found: re.Match[str], text: str) -> None:
    parts = list(_PART.finditer(text))
    if len(parts) < 4:
        return
    run = reading.run
    is_again = any(own.name == "idle" and "core" not in own.of for own in run.results)
    if not found["core"] and is_again:
        run = reading.begin()
    run.tool = TOOL
    of: dict[str, Any] = {"core": int(found["core"])} if found["core"] else {}
    for part in parts:
        reading.add(_SHARES[part["name"]], part["share"].replace(",", "."), "%", GIVEN, of)


def _memory(reading: Reading[_Run], found: re.Match[str], text: str) -> None:
    unit = found["unit"] or _SIZES[found["k"]]
    what = "memory" if found["what"] == "Mem" else "swap"
    reading.add(f"{what} in all", found["total"], unit, GIVEN)
    for part in _AMOUNT.finditer(text[found.end() :]):
        name = part["name"].lower()
        called = "available memory" if name.startswith("avail") else f"{name} {what}"
        reading.add(called, part["value"].rstrip("."), unit, GIVEN)


def _free(reading: Reading[_Run], found: re.Match[str]) -> None:
    run = reading.run
    cells = [cell for word in found["cells"].split() if (cell := _CELL.fullmatch(word))]
    what = "memory" if found["what"] == "Mem" else "swap"
    for column, cell in zip(run.free_columns, cells, strict=False):
        value = as_float(cell["value"])
        if column not in ("total", "used", "free", "available") or value is None:
            continue
        unit = _SIZES.get(cell["unit"], "TiB")
        unit = _unit_of_free(reading, value) if unit == "B" and "B" not in cell[0] else unit
        if not unit:
            return
        called = {"total": f"{what} in all", "available": "available memory"}
        reading.add(called.get(column, f"{column} {what}"), value, unit, GIVEN)


def _unit_of_free(reading: Reading[_Run], value: float) -> str:
    """What free counts in: as its command says, KiB where the first number is large enough."""
    run = reading.run
    if run.results:
        return run.results[0].unit
    last = next((own.words for own in reversed(reading.log.commands) if "free" in own.words), ())
    for option, unit in (("-m", "MiB"), ("-g", "GiB"), ("-b", "B"), ("-k", "KiB")):
        if option in last:
            return unit
    return "KiB" if value >= _LEAST_KIB else ""


def _process(reading: Reading[_Run], words: Sequence[str]) -> bool:
    """Whether it is a row of the list of processes."""
    run = reading.run
    if len(words) < len(run.columns) or not words[run.columns.index("PID")].isdecimal():
        return False
    share = as_float(words[run.columns.index("%CPU")].replace(",", "."))
    if share is None:
        return False
    run.processes += 1
    if run.processes <= _MOST_PROCESSES:
        name = " ".join(words[len(run.columns) - 1 :])[:60]
        of: dict[str, Any] = {"label": name}
        reading.add(f"CPU of {name}", share, "%", GIVEN, of)
    return True


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each screen, or each start of free and uptime."""
    return [run.report(run.tool) for run in _READER.runs(log)]

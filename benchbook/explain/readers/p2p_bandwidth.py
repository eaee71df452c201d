"""CUDA's p2pBandwidthLatencyTest: its matrices of rates and latencies between each two devices."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import only, unremarked
from benchbook.explain.readers.common.line_reader import LEFT_OUT, LineReader, Reading, Run

TOOL = "p2pBandwidthLatencyTest"
_START = late(r"\[P2P \(Peer-to-Peer\) GPU Bandwidth Latency Test\]")
_DEVICE = late(r"^\s*Device: ?(?P<number>\d{1,4}), (?P<name>\S.{0,120}?), pciBusID: ")
_ACCESS = late(
    r"^\s*Device=(?P<one>\d{1,4}) (?P<can>CAN(?:NOT)?) Access Peer Device=(?P<other>\d{1,4})\b"
)
_TITLE = late(
    r"^\s*(?:(?P<ways>Uni|Bi)directional )?P2P=(?P<peers>En|Dis)abled (?P<what>Bandwidth|Latency)"
    r"(?: \((?P<how>P2P (?:Writes|Reads))\))? Matrix \((?P<unit>GB/s|us)\)\s*$"
)
_COLUMNS = late(r"^\s*(?:(?P<whose>GPU|CPU)|D\\{1,2}D)\s+(?P<numbers>\d{1,4}(?:\s+\d{1,4})*)\s*$")
_CONNECTED = late(r"^\s*(?P<row>\d{1,4})\s+(?P<cells>[01](?:\s+[01])*)\s*$")
_NUMBER = r"(?:\d[\d.,]*|-?nan|inf)"
_ROW = late(rf"^\s*(?P<row>\d{{1,4}})\s+(?P<cells>{_NUMBER}(?:\s+{_NUMBER})*)\s*$")
# What a narrow terminal or a mail put on a line of its own.
_REST = late(rf"^\s*(?P<cells>{_NUMBER}(?:\s+{_NUMBER})*)\s*$")


@dataclass
class _Run(Run):
    """One start."""

    devices: dict[str, str] = field(default_factory=dict)
    access: dict[tuple[int, int], bool] = field(default_factory=dict)
    connects: bool = False  # whether its matrix of accesses comes next
    titles: set[str] = field(default_factory=set)
    title: str = ""
    unit: str = ""
    of: dict[str, Any] = field(default_factory=dict)
    whose: str = ""  # the clock of a latency: GPU or CPU
    columns: list[int] = field(default_factory=list)
    row: int = 0
    filled: int = 0  # cells of that row

    def finish(self) -> bool:
        """Name the device, where all are alike: what one of them can do is said of no other. A run
        from the first line is named by its first figure."""
        self.line = 0 if self.line == 1 else self.line
        name = only(set(self.devices.values()))
        self.facts = {"device": name} if name else {}
        if self.devices:
            self.facts["devices"] = len(self.devices)
        return bool(self.results)


def _titled(run: _Run, found: re.Match[str]) -> None:
    """A matrix: a rate of itself is one of the device's memory, read and written, and in both
    directions the sum of both."""
    ways = f"{found['ways']}directional " if found["ways"] else ""
    how = f" ({found['how']})" if found["how"] else ""
    run.title = f"{ways}P2P={found['peers']}abled {found['what']}{how}"
    run.unit, run.columns, run.whose, run.filled = found["unit"], [], "", 0
    run.of = {"direction": "device to device", "peers": f"{found['peers'].lower()}abled"}
    if found["ways"]:
        run.of["ways"] = 2 if found["ways"] == "Bi" else 1


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "P2P=" in text and (found := _TITLE.match(text)):
        if text.strip() in run.titles:
            run = reading.begin()  # whose head was cut out of the log
        run.titles.add(text.strip())
        _titled(run, found)
    elif not run.title:
        if found := _DEVICE.match(text):
            run.devices[found["number"]] = found["name"]
        elif found := _ACCESS.match(text):
            run.access[int(found["one"]), int(found["other"])] = found["can"] == "CAN"
        elif "P2P Connectivity Matrix" in text:
            run.connects = True
        elif run.connects and (found := _CONNECTED.match(text)):
            for column, cell in enumerate(found["cells"].split()):
                if column != int(found["row"]):
                    run.access.setdefault((int(found["row"]), column), cell == "1")
    elif (found := _COLUMNS.match(text)) and (
        run.columns or not run.whose or found["whose"] == "CPU"  # else it is of another table
    ):
        numbers = [int(number) for number in found["numbers"].split()]
        same = run.columns and not run.filled and (found["whose"] or "") == run.whose
        run.columns = [*run.columns, *numbers] if same else numbers
        run.whose, run.filled = found["whose"] or "", 0
    elif 0 < run.filled < len(run.columns) and _goes_on(run, text):
        _cells(reading, text.split())
    elif run.columns and (found := _ROW.match(unremarked(text))) and _is_next(run, found):
        run.row, run.filled = int(found["row"]), 0
        _cells(reading, found["cells"].split())
    elif text.strip(LEFT_OUT):
        # Rows may follow that another tool printed; but a latency has two tables, and what is
        # between them is no blank line everywhere.
        run.columns = []
        run.title = run.title if run.whose == "GPU" else ""


def _is_next(run: _Run, found: re.Match[str]) -> bool:
    """Whether the table has such a row, and as many columns."""
    row, cells = int(found["row"]), found["cells"].split()
    return row in run.columns and len(cells) <= len(run.columns)


def _goes_on(run: _Run, text: str) -> bool:
    """Whether these are the cells that the row above still lacks, and no row of its own."""
    if (found := _REST.match(text)) is None:
        return False
    cells = found["cells"].split()
    return len(cells) <= len(run.columns) - run.filled and "." in cells[0]


def _cells(reading: Reading[_Run], cells: list[str]) -> None:
    """Cells of the row that was begun."""
    run = reading.run
    name = f"{run.title} {run.whose}".strip()
    for column, cell in zip(run.columns[run.filled :], cells, strict=False):
        of = run.of | {"row": run.row, "column": column}
        if (can := run.access.get((run.row, column))) is not None:
            of["peer_access"] = can and run.of["peers"] == "enabled"
        reading.add(name, cell, run.unit, "sample", of)
    run.filled += len(cells)


read = LineReader(TOOL, _Run, _line, _START, clean=str.rstrip)

"""pcm-memory: reads and writes of the channels, of each socket, and of the whole machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "pcm-memory"
_RATE = r"(?P<rate>-?\d{1,9}(?:\.\d{1,3})?)"
_SOCKET = late(r"(?:--|\|)\s+Socket\s{0,4}(?P<socket>\d{1,2})\s+(?=--|\|)")
_CHANNEL = late(r"Mem Ch\s+(?P<channel>\d{1,2}): Reads \(MB/s\):")
_CELL = late(r"(?:Mem Ch\s+(?P<channel>\d{1,2}): )?(?P<what>Reads|Writes) ?\(MB/s\)\s*: *" + _RATE)
_NODE = late(
    rf"NODE ?(?P<socket>\d{{1,2}}) (?P<what>Mem Read|Mem Write|Memory) *\(MB/s\) *: *{_RATE}"
)
_SYSTEM = late(
    r"System (?P<what>(?:DRAM |PMM )?(?:Read|Write)|Memory) Throughput\(MB/s\): *" + _RATE
)
_NAMES = {"Mem Read": "memory reads", "Mem Write": "memory writes", "Memory": "memory traffic"}


@dataclass
class _Run(Run):
    """One interval: `sockets` are those of the columns, `channels` those of the last row."""

    sockets: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if sockets := _SOCKET.findall(text):
        run = reading.begin() if run.channels else run
        run.sockets = tuple(map(int, sockets))
        run.line = run.line or reading.line.number
    elif "s (MB/s):" in text or "Writes(MB/s)" in text:
        if "PMM" not in text:
            _channels(reading, text)
    elif "NODE" in text:
        for node in _NODE.finditer(text):
            of: dict[str, Any] = {"socket": int(node["socket"])}
            reading.add(f"{_NAMES[node['what']]} of a socket", node["rate"], "MB/s", "", of)
    elif found := _SYSTEM.search(text):
        reading.add(f"system {found['what'].lower()}", found["rate"], "MB/s")


def _channels(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    cells = list(_CELL.finditer(text))
    if not run.sockets or len(cells) > len(run.sockets):
        return
    if all(cell["channel"] for cell in cells):
        run.channels = tuple(int(cell["channel"]) for cell in cells)
    for place, cell in enumerate(cells):
        if place < len(run.channels):
            of = {"socket": run.sockets[place], "channel": run.channels[place]}
            name = "channel reads" if cell["what"] == "Reads" else "channel writes"
            reading.add(name, cell["rate"], "MB/s", "", of)


read = LineReader(TOOL, _Run, _line)

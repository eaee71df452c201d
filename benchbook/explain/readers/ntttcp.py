"""ntttcp: the totals of a transfer, as its versions for Windows and for Linux print them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "ntttcp"
_HEAD = late(r"^(?:Copyright Version \S+|NTTTCP for Linux (?P<version>\S+))$")
_ROLE = late(r"^\*\*\* (?P<role>sender|receiver) role$")
_STAMP = late(r"^(?:\d\d:\d\d:\d\d )?(?:INFO: )?\s*")
_ROW = late(
    r"^(?P<what>test duration|total bytes|throughput|retrans segs|average RTT|cycles/byte|"
    rf"avg cpu|pkts/interrupt)\s*:\s*(?P<value>{NUMBER}) ?(?P<unit>[A-Za-z%/]*)$"
)
_UNITS = {"bps": "bit/s", "Kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s"}
_NUMBERS = late(rf"^{NUMBER}(?:\s+{NUMBER}){{1,5}}$")
# Heads of the tables for Windows: the row below has as many numbers as there are columns.
_TABLES = {
    "Thread Time(s) Throughput(KB/s) Avg B / Compl": ("", "", "thread", ""),
    "Bytes(MEG) realtime(s) Avg Frame Size Throughput(MB/s)": ("moved", "time", "", "rate"),
    "Throughput(Buffers/s) Cycles/Byte Buffers": ("", "cycles", ""),
    "Packets Sent Packets Received Retransmits Errors Avg. CPU %": ("", "", "again", "", "cpu"),
}


@dataclass
class _Run(Run):
    """One end of a transfer."""

    table: tuple[str, ...] = ()
    moved: float = 0.0
    elapsed_s: float = 0.0
    columns: dict[str, Any] = field(default_factory=dict)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    text = _STAMP.sub("", text)
    if found := _HEAD.match(text):
        run = reading.begin(version=found["version"] or "")
        run.facts["protocol"] = "tcp"
    elif found := _ROLE.match(text):
        run.columns["end"] = found["role"]
    elif (table := _TABLES.get(" ".join(text.split()))) is not None:
        run.table = table
        run.facts.setdefault("protocol", "tcp")
    elif run.table and _NUMBERS.match(text):
        _cells(reading, text.split())
    elif found := _ROW.match(text):
        _linux(reading, found["what"], float(found["value"]), found["unit"])


def _cells(reading: Reading[_Run], cells: list[str]) -> None:
    """A row of a table of Windows; its MB are of 2^20 bytes."""
    run = reading.run
    if len(cells) != len(run.table):
        run.table = ()
        return
    for column, cell in zip(run.table, cells, strict=True):
        if column == "thread":
            reading.add("throughput of a thread", cell, "KiB/s")
        elif column == "moved":
            reading.add("transferred", cell, "MiB", "total", run.columns)
        elif column == "time":
            run.facts["elapsed_s"] = float(cell)
        elif column == "rate":
            reading.add("throughput", cell, "MiB/s", "total", run.columns)
        elif column == "cycles":
            reading.add("cycles a byte", cell, "cycles")
        elif column == "again":
            reading.add("retransmits", cell, "segments", "total", run.columns)
        elif column == "cpu":
            reading.add("CPU", cell, "%", "", {"end": "local"})


def _linux(reading: Reading[_Run], what: str, value: float, unit: str) -> None:
    run = reading.run
    if what == "test duration":
        run.elapsed_s = value
        run.facts["elapsed_s"] = value
    elif what == "total bytes":
        reading.add("transferred", value, "B", "total", run.columns)
    elif what == "throughput" and unit in _UNITS:
        of = {**run.columns, "elapsed_s": run.elapsed_s} if run.elapsed_s else run.columns
        reading.add("throughput", value, _UNITS[unit], "total", of)
    elif what == "retrans segs":
        reading.add("retransmits", value, "segments", "total", run.columns)
    elif what == "cycles/byte":
        reading.add("cycles a byte", value, "cycles")
    elif what == "average RTT" and unit in ("us", "ms"):
        reading.add("round trip", value, unit, "mean")


read = LineReader(TOOL, _Run, _line)

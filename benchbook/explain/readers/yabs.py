"""YABS: its table of mixed reads and writes of a disk by fio, by the size of a block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "yabs"
_HEAD = late(r"^fio Disk Speed Tests \([^()]{1,60}\)(?: \(Partition (?P<disk>\S{1,200})\))?:?$")
_SIZES = late(r"^Block Size\b")
_SIZE = late(r"\b(?P<size>\d{1,5})(?P<unit>[kKmM])\b\s+\(IOPS\)")
_ROW = late(r"^(?P<way>Read|Write|Total)\s+\|")
_CELL = late(rf"(?P<rate>{NUMBER}) (?P<unit>[KMG]B)/s\s+\((?P<count>{NUMBER})(?P<many>k?)\)")
_BYTES = {"k": 1 << 10, "m": 1 << 20}
_UNITS = {"KB": "kB/s", "MB": "MB/s", "GB": "GB/s"}


@dataclass
class _Run(Run):
    """One start."""

    sizes: list[int] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        facts = {"disk": found["disk"].rstrip("):")} if found["disk"] else {}
        reading.begin(facts=facts)
    elif run.line and _SIZES.match(text):
        run.sizes = [
            int(size["size"]) * _BYTES[size["unit"].lower()] for size in _SIZE.finditer(text)
        ]
    elif run.sizes and (found := _ROW.match(text)):
        cells = list(_CELL.finditer(text))
        if len(cells) != len(run.sizes):
            return
        way = found["way"].lower()
        for size, cell in zip(run.sizes, cells, strict=True):
            of: dict[str, Any] = {"block_bytes": size}
            reading.add(f"{way} bandwidth", cell["rate"], _UNITS[cell["unit"]], "mean", of)
            count = reading.number(cell["count"])
            many = 1e3 if cell["many"] else 1.0
            rate = None if count is None else count * many
            reading.add(f"{way} operation rate", rate, "operations/s", "mean", of)


read = LineReader(TOOL, _Run, _line)

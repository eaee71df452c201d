"""iozone: throughput of several processes, and its table by size of file and record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "iozone"
_BANNER = late(r"^Iozone: Performance Test of File I/O|^Run began: ")
_VERSION = late(r"^Version \$Revision: (?P<version>[\d.]+) \$")
_SIZE = late(r"^File size set to (?P<size>\d{1,15}) [kK]B")
_RECORD = late(r"^Record Size (?P<size>\d{1,9}) [kK]B")
_EACH = late(
    r"^Each process writes an? (?P<file>\d{1,15}) [kK]byte file in "
    r"(?P<record>\d{1,9}) [kK]byte records"
)
_SYNC = late(
    r"^(?:O_DIRECT feature enabled|SYNC Mode\.|Include fsync in write timing|Include close)"
)
_THROUGHPUT = late(
    r"^(?P<who>Children see|Parent sees) throughput for\s+(?P<count>\d{1,6})\s+"
    r"(?P<what>[a-z][a-z -]{2,30}?)\s+=\s*(?P<rate>\d{1,15}(?:\.\d{1,3})?) [kK]B/sec$"
)
_HEADS = late(r"^[kK]B\s+reclen\s+write\s+rewrite\s+read\s+reread\b(?P<more>.*)$")
_ROW = late(r"^\d{1,15}(?:\s+\d{1,15}){3,14}$")
_NAMES = ("write", "rewrite", "read", "reread", "random read", "random write", "bkwd read",
          "record rewrite", "stride read", "fwrite", "frewrite", "fread", "freread")  # fmt: skip


@dataclass
class _Run(Run):
    """One start."""

    of_table: bool = False
    columns: int = 0
    words: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _BANNER.match(text):
        run = reading.begin() if run.results else run
        run.line = run.line or reading.line.number
    elif found := _VERSION.match(text):
        run.version = found["version"]
    elif found := _SIZE.match(text):
        run.facts["file_bytes"] = int(found["size"]) << 10
    elif found := _RECORD.match(text):
        run.facts["block_bytes"] = int(found["size"]) << 10
    elif found := _EACH.match(text):
        run.facts |= {"file_bytes": int(found["file"]) << 10}
        run.facts |= {"block_bytes": int(found["record"]) << 10}
    elif _SYNC.match(text):
        run.facts["flags"] = text
    elif found := _THROUGHPUT.match(text):
        run.facts["processes"] = int(found["count"])
        of: dict[str, Any] = {"end": "processes" if found["who"] == "Children see" else "parent"}
        reading.add(f"{found['what']}", found["rate"], "KiB/s", "sum", of)
    elif _HEADS.match(text):
        run.of_table = True
    elif run.of_table and _ROW.match(text):
        size, record, *rates = text.split()
        of = {"file_bytes": int(size) << 10, "block_bytes": int(record) << 10}
        for name, rate in zip(_NAMES, rates, strict=False):
            reading.add(name, rate, "KiB/s", "mean", of)


read = LineReader(TOOL, _Run, _line)

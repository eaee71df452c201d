"""CrystalDiskMark (and KDiskMark): its text of all versions, rates by block, queue and threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "crystaldiskmark"
_BANNER = late(r"^(?:CrystalDiskMark|KDiskMark) (?:\()?(?P<version>\d[\w.]*)")
_WAY = late(r"^\[(?P<way>Read|Write|Mix)(?: [^\]]{0,20})?\]$")
_NEW = late(
    r"^(?P<kind>SEQ|RND|Sequential|Random) +(?P<size>\d{1,5}) ?(?P<unit>[KM])i?B "
    r"\(Q= *(?P<depth>\d{1,4}), ?T= *(?P<threads>\d{1,4})\): +(?P<rate>\d[\d.,]*) MB/s"
    r"(?: \[ *(?P<iops>\d[\d.,]*) IOPS\])?(?: < *(?P<time>\d[\d.,]*) us>)?"
)
_OLD = late(
    r"^(?P<kind>Sequential|Random) (?P<way>Read|Write)(?: (?P<size>\d{1,5}) ?(?P<unit>[KM])i?B)?"
    r"(?: \((?:Q= *|QD= ?)(?P<depth>\d{1,4})(?:, ?T= *(?P<threads>\d{1,4}))?\))? : +"
    r"(?P<rate>\d[\d.,]*) MB/s(?: \[ *(?P<iops>\d[\d.,]*) IOPS\])?"
)
_SIZES = {"K": 1 << 10, "M": 1 << 20}


@dataclass
class _Run(Run):
    """One start."""

    way: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _BANNER.match(text):
        reading.begin(version=found["version"])
    elif found := _WAY.match(text):
        run.way = found["way"].lower()
    elif found := _NEW.match(text) or _OLD.match(text):
        own = found.groupdict()
        way = (own.get("way") or run.way or "").lower()
        depth, threads = int(own["depth"] or 1), int(own["threads"] or 1)
        of: dict[str, Any] = {"queue_depth": depth * threads, "pattern": _pattern(own["kind"])}
        if own["size"]:
            of["block_bytes"] = int(own["size"]) * _SIZES[own["unit"]]
        name = f"{of['pattern']} {way}".strip()
        reading.add(f"{name} bandwidth", own["rate"], "MB/s", "mean", of)
        if own["iops"]:
            reading.add(f"{name} operation rate", own["iops"], "operations/s", "mean", of)
        if own.get("time"):
            reading.add(f"{name} time", own["time"], "us", "mean", of)


def _pattern(kind: str) -> str:
    return "sequential" if kind[:3].lower() == "seq" else "random"


read = LineReader(TOOL, _Run, _line)

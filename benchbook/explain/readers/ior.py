"""IOR: the bandwidth of each repetition, and the largest of all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "ior"
_BANNER = late(r"^IOR-(?P<version>\d\S*): MPI Coordinated Test of Parallel I/O")
_OPTION = late(
    r"^(?P<name>tasks|clients|xfersize|blocksize|aggregate filesize)\s*[:=] "
    r"*(?P<value>\d+(?:\.\d+)?)(?: ?(?P<unit>[KMGT]i?B|bytes))?\b"
)
_HEAD = late(r"^access +bw\(MiB/s\) +(?P<more>\S.*)$")
_ROW = late(rf"^(?P<way>write|read) +(?P<cells>{NUMBER}(?: +\S+)*)$")
_MOST = late(rf"^Max (?P<way>Write|Read): +(?P<rate>{NUMBER}) MiB/sec\b")
_BYTES = {"": 1, "bytes": 1} | {
    name: 1 << shift
    for letter, shift in (("K", 10), ("M", 20), ("G", 30), ("T", 40))
    for name in (f"{letter}iB", f"{letter}B")
}
_OPTION_COUNT = late(r"^(?P<name>nodes|segments|repetitions)\s*[:=] *(?P<count>\d{1,9})$")
_PARTS = (("opening", -5), ("moving", -4), ("closing", -3))  # of a row, before its time
_CELLS = {8: ("total", -2), 10: ("total", -2)}  # in a row whose head is missing


@dataclass
class _Run(Run):
    """One start."""

    counts: dict[str, int] = field(default_factory=dict)
    has_latency: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _BANNER.match(text):
        reading.begin(version=found["version"])
    elif found := _OPTION.match(text):
        run.facts |= _fact(found["name"], float(found["value"]), found["unit"] or "")
    elif found := _OPTION_COUNT.match(text):
        run.facts[f"{found['name']}_asked"] = int(found["count"])
    elif found := _HEAD.match(text):
        run.line = run.line or reading.line.number
        run.has_latency = "Latency(s)" in found["more"]
    elif found := _ROW.match(text):
        _row(reading, found["way"], found["cells"].split())
    elif found := _MOST.match(text):
        reading.add(found["way"].lower(), found["rate"], "MiB/s", "max")


def _fact(name: str, value: float, unit: str) -> dict[str, Any]:
    if name in ("tasks", "clients"):
        return {"processes": int(value)}
    kind = {"xfersize": "block_bytes", "blocksize": "file_bytes"}.get(name, "whole_bytes")
    return {kind: round(value * _BYTES[unit])}


def _row(reading: Reading[_Run], way: str, cells: list[str]) -> None:
    """One repetition; the second to last cell is its time."""
    run = reading.run
    if not run.line and len(cells) not in _CELLS and cells[1:] != ["..."]:
        return
    count = run.counts.get(way, 0)
    of: dict[str, Any] = {"repetition": count}
    if len(cells) in _CELLS and _is_time(cells[-2]):
        of["elapsed_s"] = float(cells[-2])
    if reading.add(way, cells[0], "MiB/s", "sample", of):
        run.counts[way] = count + 1
    if run.has_latency and len(cells) == 10:
        reading.add(f"{way} operation rate", cells[1], "operations/s", "sample", of)
        reading.add(f"{way} latency", cells[2], "s", "sample", of)
    if len(cells) in _CELLS:
        for name, at in _PARTS:
            if _is_time(cells[at]):
                reading.show(f"{way}: {name}", cells[at], "s", of=of)


def _is_time(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


read = LineReader(TOOL, _Run, _line)

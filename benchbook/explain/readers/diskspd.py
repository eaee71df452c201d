"""diskspd: bytes, requests and latencies of all, of reads and of writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "diskspd"
_COMMAND = late(r"(?:^|[\s>`\\/])diskspd(?:\.exe)? (?P<words>-\S.*)$", 2)
_OPTION = late(r"(?:^|\s)-(?P<name>[otbF])(?P<value>\d{1,9})(?P<unit>[KMG]?)(?=\s|$)")
_OUTSTANDING = late(r"^number of outstanding I/O operations(?: per thread)?: (?P<count>\d{1,6})$")
_THREADS = late(r"^thread count:\s+(?P<count>\d{1,6})$")
_SECTION = late(r"^(?P<what>Total|Read|Write) IO$")
_TOTAL = late(
    rf"^total: +(?P<bytes>\d+) +\| +(?P<count>\d+) +\| +(?P<rate>{NUMBER}) +\| +(?P<iops>{NUMBER})"
    rf"(?: +\| +(?P<mean>{NUMBER}))?(?: +\| +(?P<spread>{NUMBER}))?"
)
_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass
class _Run(Run):
    """One start; `way`: of which requests the table is."""

    way: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _COMMAND.search(text):
        facts: dict[str, Any] = {}
        for option in _OPTION.finditer(found["words"]):
            value = int(option["value"]) * _SIZES[option["unit"]]
            name = {"o": "queue_each", "b": "block_bytes"}.get(option["name"], "threads")
            facts[name] = value
        if run.results or not run.facts:
            run = reading.begin(facts=facts)
        run.facts |= facts
    elif found := _OUTSTANDING.match(text):
        run.facts["queue_each"] = int(found["count"])
    elif found := _THREADS.match(text):
        run.facts["threads"] = int(found["count"])
    elif text == "using software cache":
        run.facts["flags"] = "buffered"
    elif found := _SECTION.match(text):
        run.way = found["what"].lower()
    elif run.way and (found := _TOTAL.match(text)) and int(found["count"]):
        reading.add(f"{run.way} bandwidth", found["rate"], "MiB/s", "mean")
        reading.add(f"{run.way} operation rate", found["iops"], "operations/s", "mean")
        if found["mean"]:
            reading.add(f"{run.way} latency", found["mean"], "ms", "mean")
        if found["spread"]:
            reading.add(f"{run.way} latency", found["spread"], "ms", "stddev")
        if "queue_each" in run.facts:
            depth = run.facts["queue_each"] * run.facts.get("threads", 1)
            run.facts["queue_depth"] = depth


read = LineReader(TOOL, _Run, _line)

"""ioping: the time of single requests to a disk, and their summary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "ioping"
_REQUEST = late(
    r"^(?P<size>\d+(?:\.\d+)?) (?P<unit>[KMG]?i?B|bytes) (?:<<<|>>>|from|to) "
    r"(?P<target>.+?)(?: \([^)]*\))?: request=(?P<number>\d+) "
    r"time=(?P<time>\d+(?:\.\d+)?) (?P<time_unit>ns|us|ms|s)(?P<warm> \(warmup\))?"
)
_TITLE = late(r"^--- (?P<target>\S.*?) (?:\((?P<where>.*)\) )?ioping statistics ---")
_DEVICE = late(r"/dev/[\w./-]+")
_SUMMARY = late(
    r"^(?P<count>\d+(?:\.\d+)?)(?P<many> [kM])? requests completed in (?P<time>\d+(?:\.\d+)?) "
    r"(?P<time_unit>us|ms|s|min|h), "
    r"(?:\d+(?:\.\d+)? [KMG]?i?B (?:read|written), )?(?P<iops>\d+(?:\.\d+)?)"
    r"(?P<of_iops> [kM])? iops, (?P<rate>"
    r"\d+(?:\.\d+)?) (?P<unit>[KMG]?i?B)/s"
)
# Since version 1.0, what it was to do in all, with its pauses.
_GENERATED = late(
    r"^generated (?P<count>\d+(?:\.\d+)?)(?P<many> [kM])? requests in (?P<time>\d+(?:\.\d+)?) "
    r"(?P<time_unit>us|ms|s|min|h),"
)
_SPREAD = late(
    r"^min/avg/max/mdev = (?P<min>\d+(?:\.\d+)?) (?P<min_unit>\w+) / (?P<mean>\d+(?:\.\d+)?) "
    r"(?P<mean_unit>\w+) / "
    r"(?P<max>\d+(?:\.\d+)?) (?P<max_unit>\w+) / (?P<stddev>\d+(?:\.\d+)?) (?P<stddev_unit>\w+)"
)
# Before version 0.8.
_OLD_SPREAD = late(
    r"^min/avg/max/mdev = (?P<min>\d+(?:\.\d+)?)/(?P<mean>\d+(?:\.\d+)?)/"
    r"(?P<max>\d+(?:\.\d+)?)/(?P<stddev>\d+(?:\.\d+)?) (?P<unit>us|ms|s)$"
)
_MANY = {" k": 1e3, " M": 1e6}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass
class _Run(Run):
    """One start."""

    line: int = 0
    ended: bool = False
    requests: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _REQUEST.match(text):
        run = reading.begin() if run.ended else run
        run.facts.setdefault("disk", found["target"])
        if not found["warm"]:
            of: dict[str, Any] = {"repetition": run.requests}
            run.requests += 1
            reading.add("request", found["time"], found["time_unit"], "sample", of)
    elif found := _TITLE.match(text):
        run = reading.begin() if run.ended else run
        run.facts["disk"] = found["target"]
        if device := _DEVICE.search(found["where"] or ""):
            run.facts["lies_on"] = device[0]
    elif found := _SUMMARY.match(text):
        iops = float(found["iops"]) * _MANY.get(found["of_iops"] or "", 1.0)
        reading.add("request rate", iops, "operations/s", "mean")
        reading.add("throughput", found["rate"], f"{found['unit']}/s", "mean")
        _pace(run, found)
    elif found := _GENERATED.match(text):
        _pace(run, found)
    elif found := _SPREAD.match(text):
        run.ended = True
        for statistic in ("min", "mean", "max", "stddev"):
            reading.add("request", found[statistic], found[f"{statistic}_unit"], statistic)
    elif found := _OLD_SPREAD.match(text):
        run.ended = True
        for statistic in ("min", "mean", "max", "stddev"):
            reading.add("request", found[statistic], found["unit"], statistic)


def _pace(run: _Run, found: re.Match[str]) -> None:
    """How many requests it made in which time; the last line about that counts."""
    count = float(found["count"]) * _MANY.get(found["many"] or "", 1.0)
    run.facts["requests_made"] = round(count)
    run.facts["made_in_s"] = float(found["time"]) * _SECONDS[found["time_unit"]]


read = LineReader(TOOL, _Run, _line)

"""BenchmarkTools of Julia: trials of both forms, and the lines of @btime and @time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, scaled, time_of

TOOL = "benchmarktools"
_BEGINS = late(
    r"^(?:(?P<name>\S.{0,100}?):? )?Ben?chmarkTools\.Trial:(?: (?P<samples>\d+) samples? with "
    r"(?P<evaluations>\d+) evaluations?.*)?$"
)
_TIME = rf"(\d+(?:\.\d+)?) ({UNIT})"
_OLD = late(
    rf"^(?P<what>minimum|median|mean|maximum) time: +(?P<value>\d+(?:\.\d+)?) (?P<unit>{UNIT})"
    r"(?: \((?P<gc>\d+(?:\.\d+)?)% GC\))?$"
)
_COUNT = late(r"^(?P<what>samples|evals/sample): +(?P<count>\d+)$")
_RANGE = late(rf"^Range \(min … max\): +{_TIME} … +{_TIME}\b")
_MEDIAN = late(rf"^Time +\(median\): +{_TIME}\b")
_MEAN = late(rf"^Time +\(mean ± σ\): +{_TIME} ± +{_TIME}\b")
_GC = late(
    r"┊ GC \((?P<what>[^()]+)\): +(?P<first>\d+(?:\.\d+)?)%"
    r"(?: (?:…|±) +(?P<second>\d+(?:\.\d+)?)%)?"
)
_MEMORY = late(r"^memory estimate: +(?P<bytes>\d+(?:\.\d+)?) (?P<unit>[KMG]iB|bytes)", re.I)
# @btime and @time: a time, and what was allocated.
_ALONE = late(
    rf"^(?:(?P<name>\S.{{0,80}}?)(?: *(?:->|=>|[:=]))? +)??"
    rf"(?P<value>\d+(?:\.\d+)?) (?P<unit>{UNIT})"
    r" \((?P<count>\d+(?:\.\d+)?) ?(?P<prefix>[kMG]?) allocations?: (?P<bytes>\d+(?:\.\d+)?) "
    r"(?P<bytes_unit>[KMGT]?i?B|bytes)(?P<rest>[^()]*)\)$"
)
_SHARE = late(r"(?P<percent>\d+(?:\.\d+)?)% (?P<of>gc time|compilation time)")
_STATISTICS = {"minimum": "min", "median": "median", "mean": "mean", "maximum": "max"}
_BYTES = {"bytes": "B", "kb": "KiB", "mb": "MiB", "gb": "GiB"}


@dataclass
class _Run(Run):
    """A trial, or a line; `own` is what each figure of it has."""

    name: str = "time"

    def finish(self) -> bool:
        """A trial says behind its times how many samples it has."""
        for count in ("repetitions", "iterations"):
            if count in self.facts:
                number = self.facts.pop(count)
                for result in self.results:
                    result.of = {**result.of, count: number}
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _BEGINS.match(text):
        run = reading.begin()
        if found["samples"]:
            run.facts |= {"repetitions": int(found["samples"])}
            run.facts |= {"iterations": int(found["evaluations"])}
        return
    run = reading.run
    if run.line and run.name == "time" and _of_trial(reading, text):
        return
    if "allocation" in text and (found := _ALONE.match(text)):
        _alone(reading, found)


def _of_trial(reading: Reading[_Run], text: str) -> bool:
    """Whether the line is one of a trial; its figures are added."""
    run = reading.run
    if found := _OLD.match(text):
        _add(reading, found["value"], found["unit"], _STATISTICS[found["what"]])
        if found["gc"]:
            _add_share(reading, found["gc"], _STATISTICS[found["what"]])
    elif found := _COUNT.match(text):
        kind = "repetitions" if found["what"] == "samples" else "iterations"
        run.facts[kind] = int(found["count"])
    elif found := _RANGE.match(text):
        _add(reading, found[1], found[2], "min")
        _add(reading, found[3], found[4], "max")
    elif found := _MEDIAN.match(text):
        _add(reading, found[1], found[2], "median")
    elif found := _MEAN.match(text):
        _add(reading, found[1], found[2], "mean")
        _add(reading, found[3], found[4], "stddev")
    elif found := _MEMORY.match(text):
        unit = _BYTES.get(found["unit"].lower(), found["unit"])
        reading.add("memory", found["bytes"], unit)
    else:
        return False
    if share := _GC.search(text):
        kinds = {"min … max": ("min", "max"), "median": ("median",), "mean ± σ": ("mean",)}
        parts = (share["first"], share["second"])
        for statistic, part in zip(kinds.get(share["what"], ()), parts, strict=False):
            _add_share(reading, part, statistic)
    return True


def _add(reading: Reading[_Run], value: str, unit: str, statistic: str) -> None:
    reading.add("time", *time_of(float(value), unit), statistic)


# A trial's share of collection is that of its shortest and of its longest run, and no extreme.
_RUNS = {"min": "GC share of the shortest run", "max": "GC share of the longest run"}


def _add_share(reading: Reading[_Run], part: str, statistic: str) -> None:
    name = _RUNS.get(statistic)
    reading.add(name or "GC share", part, "%", "" if name else statistic)


def _alone(reading: Reading[_Run], found: re.Match[str]) -> None:
    name = (found["name"] or "").strip()
    run = reading.begin(name=name or "line")
    of: dict[str, Any] = {"benchmark": name} if name else {}
    called = name or "time"
    reading.add(called, *time_of(float(found["value"]), found["unit"]), "", of)
    count = scaled(float(found["count"]), found["prefix"].replace("G", "B"))
    reading.add(f"{called} allocations", count, "allocations", "", of)
    unit = found["bytes_unit"]
    unit = "B" if unit == "B" else _BYTES.get(unit.lower(), unit)
    reading.add(f"{called} allocated", found["bytes"], unit, "", of)
    for share in _SHARE.finditer(found["rest"]):
        what = "GC share" if share["of"].startswith("gc") else "compilation share"
        reading.add(f"{called} {what}", share["percent"], "%", "", of)
    if name:
        run.facts["command"] = name


read = LineReader(TOOL, _Run, _line)

"""Benchmarks of Catch2 (and of Nonius): samples, iterations and estimate in one line, the mean
and the deviation with their intervals in the next two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "catch2"
_HEAD = late(r"^benchmark name\s+samples\s+iterations\s+est\w*(?: run time)?$")
_FIRST = late(
    rf"^(?P<name>\S.{{0,200}}?)?\s*(?P<samples>\d+)\s+(?P<iterations>\d+)\s+"
    rf"(?P<estimate>\d+(?:\.\d+)?) (?P<unit>{UNIT})$"
)
_PART = rf"(\d+(?:\.\d+)?) ({UNIT})"
_THREE = late(rf"^{_PART}\s+{_PART}\s+{_PART}$")


@dataclass
class _Run(Run):
    """The benchmarks of a test case; `of` is what the last one has, `lines` how many of its lines
    have been read."""

    of: dict[str, Any] | None = None
    lines: int = 0
    last: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    if _HEAD.match(text):
        reading.begin()
        return
    run = reading.run
    if not run.line:
        return
    if found := _THREE.match(text):
        if run.of is None or run.lines >= 2:
            return
        name = run.of["benchmark"]
        statistic = ("mean", "stddev")[run.lines]
        run.lines += 1
        reading.add(name, *time_of(float(found[1]), found[2]), statistic, run.of)
        if statistic == "mean":
            if "." not in found[1]:
                reading.run.results[-1].of = {**run.of, "is_whole": True}
            low, high = time_of(float(found[3]), found[4]), time_of(float(found[5]), found[6])
            reading.add(name, *low, "confidence low", run.of)
            reading.add(name, *high, "confidence high", run.of)
    elif found := _FIRST.match(text):
        name = found["name"] or run.last or "benchmark"
        run.of = {"benchmark": name, "repetitions": int(found["samples"])}
        run.of["iterations"] = int(found["iterations"])
        run.lines, run.last = 0, ""
        estimate = time_of(float(found["estimate"]), found["unit"])
        reading.add(f"{name} estimate", *estimate, "", run.of)
    elif not set(text) <= set("-=."):
        run.last = text if len(text) <= 200 else ""


read = LineReader(TOOL, _Run, _line)

"""JMeter without its window: `summary = 223955 in 00:00:51 = 4400.9/s Avg: 439 Min: 1 Max: 6071`.

It is read where no other benchmark was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, RATE, TIME

JMETER = "jmeter"
LOOKS_FOR = {JMETER: "JMeter: `summary = 223955 in 00:00:51 = 4400.9/s Avg: 439 Min: 1 Max: 6071`"}
_ROW = late(
    r"summary (?P<kind>[+=]) +(?P<count>\d{1,12}) in +[\d:.]{1,12}s? = +"
    r"(?P<rate>\d{1,12}(?:\.\d{0,9})?)/s "
    r"Avg: +(?P<mean>\d{1,9}) Min: +(?P<min>\d{1,9}) Max: +(?P<max>\d{1,9}) "
    r"Err: +(?P<errors>\d{1,12}) \("
)
_ACTIVE = late(r"Active: (?P<count>\d{1,9})\b")
_TIMES = ("mean", "min", "max")


@dataclass
class _Run(Run):
    """One start: what the last line says that is of all of it, and the users at a time."""

    whole: list[Result] = field(default_factory=list)
    count: int = 0
    is_whole: bool = False
    intervals: int = 0
    active: int = 0

    def finish(self) -> bool:
        """Put the figures of the whole before those of its intervals."""
        self.results = [*self.whole, *self.results]
        self.facts["failed_are_counted"] = True
        if self.active:
            self.facts["concurrency"] = self.active
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if "summary" not in text or (found := _ROW.search(text)) is None:
        return
    run, is_whole, count = reading.run, found["kind"] == "=", int(found["count"])
    if is_whole and run.is_whole and count < run.count:
        run = reading.begin()
    if is_whole or not run.is_whole:
        run.whole, run.count, run.is_whole = _whole(reading, found), count, is_whole
    if not is_whole:
        reading.add(RATE, found["rate"], "requests/s", "sample", {"repetition": run.intervals})
        run.intervals += 1
        active = _ACTIVE.search(text)
        run.active = max(run.active, int(active["count"]) if active else 0)


def _whole(reading: Reading[_Run], found: re.Match[str]) -> list[Result]:
    line = reading.line.number
    own = [
        Result(COUNT, float(found["count"]), "requests", line, "total"),
        Result(RATE, float(found["rate"]), "requests/s", line, "mean"),
        *(Result(TIME, float(found[name]), "ms", line, name) for name in _TIMES),
    ]
    if found["errors"] != "0":
        of = {"failure": "errors"}
        own.append(Result(FAILED, float(found["errors"]), "requests", line, "total", of))
    return own


_read = LineReader(JMETER, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return _read(log) if log.has(" Err: ") or log.has("Err:") else []

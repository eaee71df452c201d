"""Phoronix Test Suite: the runs of each test, their average and their deviation."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "phoronix"
_PROFILE = late(r"^(?:pts|local|system|git)/(?P<test>[\w.-]{1,60}-\d[\w.]*)(?: \[.{0,160}\])?$")
_STARTED = late(r"^Started Run \d{1,3} @ \d\d:\d\d:\d\d(?P<more> \*)?$")
_TITLE = late(r"^(?P<title>\S.{0,100}):$")
_VALUE = late(r"^(?P<value>\d+(?:[.,]\d+)?)$")
_AVERAGE = late(r"^Average: (?P<value>\d[\d.,]*) (?P<unit>\S.{0,40})$")
_DEVIATION = late(r"^Deviation: (?P<share>\d+(?:[.,]\d+)?) ?%$")
_UNITS = {
    "Seconds": "s", "Milliseconds": "ms", "Microseconds": "us", "Nanoseconds": "ns", "ms": "ms",
    "us": "us", "ns": "ns", "MB/s": "MB/s", "GB/s": "GB/s", "MiB/s": "MiB/s", "GiB/s": "GiB/s",
    "MFLOPS": "Mflop/s", "GFLOPS": "Gflop/s", "Mflops": "Mflop/s", "GFLOP/s": "Gflop/s",
    "Mop/s": "Mop/s", "Total Mop/s": "Mop/s",
}  # fmt: skip


@dataclass
class _Run(Run):
    """One test; `samples` are the runs of the figure whose average comes next."""

    title: str = ""
    more: int = 0  # runs that were added because the first ones differed
    samples: list[tuple[float, int]] = field(default_factory=list)
    average: Result | None = None


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _PROFILE.match(text):
        run = reading.begin(facts={"test": found["test"]})
    elif found := _STARTED.match(text):
        run.more += bool(found["more"])
    elif found := _AVERAGE.match(text):
        _average(reading, found["value"], found["unit"])
    elif (found := _DEVIATION.match(text)) and run.average is not None:
        average = run.average
        reading.add(average.name, found["share"], "%", "stddev", average.of)
        run.average = None
    elif found := _VALUE.match(text):
        value = reading.number(found["value"])
        run.samples += [(value, reading.line.number)] if value is not None and run.title else []
    elif found := _TITLE.match(text):
        run.title, run.samples = found["title"], []


def _average(reading: Reading[_Run], value: str, unit: str) -> None:
    """The average of a figure, with its runs where they stand above it."""
    run = reading.run
    unit = _UNITS.get(unit, unit)
    name = run.title or "result"
    for number, (sample, line) in enumerate(run.samples):
        of = {"repetition": number}
        run.results.append(Result(name, sample, unit, line, "sample", of))
    own = {"repetitions": len(run.samples)} if run.samples else {}
    own |= {"runs_added": run.more} if run.more else {}
    if reading.add(name, value, unit, "mean", own):
        run.average = run.results[-1]
    run.samples, run.more = [], 0


read = LineReader(TOOL, _Run, _line)

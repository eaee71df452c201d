"""XCTest of Swift: the average, the deviation and the values of each measured test."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "xctest"
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
# Older versions call the metric `Time, seconds`, newer ones `Clock Monotonic Time, s`.
_ROW = late(
    r"Test Case '(?:-\[)?(?P<name>[^'\[\]]{1,200})\]?' measured \[[^,\]]{0,40}Time, s(?:econds)?\] "
    rf"average: (?P<mean>{_NUMBER}), relative standard deviation: (?P<percent>{_NUMBER})%, "
    rf"values: \[(?P<values>{_NUMBER}(?:, {_NUMBER}){{0,200}})\]"
)


@dataclass
class _Run(Run):
    """One measured test."""


def _line(reading: Reading[_Run], text: str) -> None:
    if "] average: " not in text or (found := _ROW.search(text)) is None:
        return
    if reading.run.results:
        reading.begin()
    values = found["values"].split(", ")
    of = {"benchmark": found["name"], "repetitions": len(values)}
    name = f"{found['name']} time"
    reading.add(name, found["mean"], "s", "mean", of)
    spread = float(f"{float(found['mean']) * float(found['percent']) / 100:.6g}")
    reading.add(name, spread, "s", "stddev", of)
    for number, value in enumerate(values):
        of = {"benchmark": found["name"], "repetition": number}
        reading.add(name, value, "s", "sample", of)


read = LineReader(TOOL, _Run, _line)

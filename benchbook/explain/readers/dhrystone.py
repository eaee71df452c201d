"""Dhrystone: the time of a run, runs a second, and the rating in MIPS of a VAX."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "dhrystone"
_NUMBER = r"(?P<value>\d{1,12}(?:\.\d{1,6})?)"
_LINES = (
    (late(rf"Microseconds for one run through Dhrystone: *{_NUMBER}"), "time of a run", "us"),
    (late(rf"Dhrystones per Second: *{_NUMBER}"), "rate", "runs/s"),
    (late(rf"machine benchmarks at {_NUMBER} dhrystones/second"), "rate", "runs/s"),
    (late(rf"(?:VAX  ?MIPS rating|(?:^|\s)DMIPS)\s*[:=] *{_NUMBER}"), "rating", "DMIPS"),
    (late(rf"(?:^|\s)DMIPS/MHz\s*[:=]? *{_NUMBER}"), "rating of a clock", "DMIPS/MHz"),
    (late(rf"^mcycle = {_NUMBER}"), "cycles", "cycles"),
    (late(rf"^minstret = {_NUMBER}"), "instructions", "instructions"),
)


def _line(reading: Reading[Run], text: str) -> None:
    for pattern, name, unit in _LINES:
        if found := pattern.search(text):
            if any(result.name == name for result in reading.run.results):
                reading.begin()
            if name not in ("cycles", "instructions") or reading.run.results:
                reading.add(name, found["value"], unit)
            return


read = LineReader(TOOL, Run, _line)

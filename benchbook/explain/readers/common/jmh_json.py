"""JMH's JSON (-rf json): scores with their errors, of whole reports and of pieces that people cut
out of several."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.printed_digits import as_float

TOOL = "jmh"
_MEMBER = late(
    r'"(?P<key>benchmark|mode|threads|forks|measurementIterations|score|scoreError|scoreUnit)"\s*:\s*'
    r'(?:"(?P<text>[^"\n]{0,300})"|(?P<number>-?\d{1,18}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?))'
    r'|"(?P<opened>[^"\n]{1,80})"\s*:\s*\{'
)
_WORDS = (
    '"benchmark"', '"mode"', '"threads"', '"forks"', '"measurementIterations"', '"score', '" : {',
    '": {', '":{',
)  # fmt: skip
_NO_METRIC = ("primaryMetric", "secondaryMetrics", "params", "scorePercentiles")
# What people write above a piece: the name of a benchmark, or which version it is of.
_NAMED = late(r'^"?(?P<name>[a-z]\w{0,60}(?:\.\w{1,80}){2,12})"?,?$')
_SIDE = late(r"^(?P<side>[\w][\w. /-]{0,40}):$")
_UNITS = {"ns/op": "ns", "us/op": "us", "ms/op": "ms", "s/op": "s", "B/op": "B", "MB/sec": "MB/s"}


@dataclass
class _Reading:
    """What was read so far, and what the next score is of."""

    results: list[Result] = field(default_factory=list)
    name: str = "benchmark"
    side: str = ""
    metric: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    of_score: list[Result] = field(default_factory=list)  # those whose unit comes behind them

    def begin(self, name: str) -> None:
        """Another benchmark begins."""
        self.name, self.side, self.metric, self.facts, self.of_score = name, "", "", {}, []

    def add(self, value: float, line: int, statistic: str) -> None:
        """A score or its error; its unit comes later."""
        of: dict[str, Any] = {"benchmark": self.name}
        of |= {"mode": self.facts["mode"]} if "mode" in self.facts else {}
        of |= {"label": self.side} if self.side else {}
        forks, iterations = self.facts.get("forks"), self.facts.get("measurementIterations")
        if forks and iterations and not self.metric:
            of["repetitions"] = int(forks * iterations)
        name = f"{self.name} {self.metric}".strip()
        self.of_score.append(Result(name, value, "1", line, statistic, of))
        self.results.append(self.of_score[-1])


def read(log: Log) -> list[Report]:
    """One report of all scores of a log."""
    reading = _Reading()
    wanted = {line.number for line in log.having(*_WORDS)}
    for line in log.lines:
        if line.number in wanted:
            for found in _MEMBER.finditer(line.text):
                _member(reading, found, line.number)
        elif len(text := line.text.strip()) < 400:
            if named := _NAMED.match(text):
                reading.begin(named["name"])
            elif side := _SIDE.match(text):
                reading.side, reading.of_score = side["side"], []
    return [Report(TOOL, reading.results, reading.results[0].line)] if reading.results else []


def _member(reading: _Reading, found: re.Match[str], line: int) -> None:
    key, value = found["key"], as_float(found["number"])
    if opened := found["opened"]:
        reading.metric = "" if opened in _NO_METRIC else opened.lstrip("·")
        reading.of_score = [] if opened != "scorePercentiles" else reading.of_score
    elif key == "benchmark" and found["text"]:
        reading.begin(found["text"])
    elif key == "scoreUnit" and found["text"]:
        unit = _UNITS.get(found["text"], found["text"].replace("ops/", "operations/"))
        for result in reading.of_score:
            result.unit = unit
        reading.of_score = []
    elif key == "mode" and found["text"]:
        reading.facts["mode"] = found["text"]
    elif value is not None and key == "score":
        reading.of_score = []
        reading.add(value, line, "mean")
    elif value is not None and key == "scoreError" and reading.of_score:
        reading.add(value, line, "confidence 99.9 %")
    elif value is not None:
        reading.facts[str(key)] = value

"""mitata of JavaScript, and deno bench, which was made after it: the mean, extremes and
percentiles of each benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "mitata"
_TIME = r"(?P<{0}>\d[\d,]*(?:\.\d+)?) (?P<{0}_unit>" + UNIT + ")"
_RANGE = rf"\( *{_TIME.format('min')} … +{_TIME.format('max')}\)"
_HEAD = late(r"^benchmark\s+(?:time(?:/iter)? \(avg\)|avg \(min … max\))\s*(?P<columns>.*)$")
# In one line: the mean, a rate, the extremes, and the percentiles that the head names.
_ROW = late(
    rf"^(?P<name>\S.{{0,200}}?)\s+{_TIME.format('mean')}(?:/iter)?(?:\s+(?P<rate>\d[\d,]*(?:\.\d+)?))?"
    rf"\s+{_RANGE}(?P<rest>(?:\s+\d[\d,]*(?:\.\d+)? {UNIT}){{0,4}})$"
)
# In two lines, next to a histogram.
_FIRST = late(rf"^(?P<name>\S.{{0,200}}?)\s+{_TIME.format('mean')}/iter\s+{_TIME.format('p75')}\b")
_SECOND = late(rf"^{_RANGE}\s+{_TIME.format('p99')}\b")
_PART = late(rf"(\d[\d,]*(?:\.\d+)?) ({UNIT})")
_PERCENTILES = {"p75": "p75", "p99": "p99", "p995": "p99.5", "p999": "p99.9"}
_SAID = late(r"^(?P<times>\d+(?:\.\d+)?)x (?:faster|slower) than (?P<name>\S.{0,200})$")


@dataclass
class _Run(Run):
    """A table; `columns` are the percentiles of its head, `name` that of the row above."""

    columns: tuple[str, ...] = ()
    name: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _HEAD.match(text):
        columns = tuple(word for word in found["columns"].split() if word in _PERCENTILES)
        reading.begin(columns=columns)
        return
    run = reading.run
    if not run.line:
        return
    if "…" in text and (found := _ROW.match(text)):
        name = found["name"]
        of: dict[str, Any] = {"benchmark": name}
        for statistic in ("mean", "min", "max"):
            _add(reading, name, found[statistic], found[f"{statistic}_unit"], statistic, of)
        parts = _PART.findall(found["rest"])
        for column, (value, unit) in zip(run.columns, parts, strict=False):
            _add(reading, name, value, unit, _PERCENTILES[column], of)
    elif "/iter" in text and (found := _FIRST.match(text)):
        run.name = found["name"]
        of = {"benchmark": run.name}
        for statistic in ("mean", "p75"):
            _add(reading, run.name, found[statistic], found[f"{statistic}_unit"], statistic, of)
    elif run.name and (found := _SECOND.match(text)):
        of = {"benchmark": run.name}
        for statistic in ("min", "max", "p99"):
            _add(reading, run.name, found[statistic], found[f"{statistic}_unit"], statistic, of)
        run.name = ""
    elif run.results and "x " in text and (found := _SAID.match(text)):
        of = {"benchmark": found["name"]}
        reading.add(f"{found['name']} ratio", found["times"], "1", "ratio", of)


def _add(
    reading: Reading[_Run], name: str, value: str, unit: str, statistic: str, of: dict[str, Any]
) -> None:
    figure, own = time_of(float(value.replace(",", "")), unit)
    reading.add(name, figure, own, statistic, of)


read = LineReader(TOOL, _Run, _line)

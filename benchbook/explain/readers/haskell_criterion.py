"""criterion and gauge of Haskell: the fitted time of each benchmark with its R², mean and
deviation, and what share of the variance is of outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "haskell-criterion"
_PART = r"(?P<{0}>-?\d+(?:\.\d+)?|NaN|-?Infinity) (?P<{0}_unit>" + UNIT + r"|R²)"
_NAMED = late(
    r"^(?:benchmarking|benchmarked) (?P<name>\S.{0,200}?)"
    r"(?: \.\.\. took (?P<took>\d+(?:\.\d+)?) (?P<unit>\w+), total (?P<count>\d+) iterations)?"
    r"(?: \.\.\.)?$"
)
_FIGURE = late(
    rf"^(?P<what>time|mean|std dev|)\s*{_PART.format('value')}"
    rf"(?:\s+\({_PART.format('low')} \.\. {_PART.format('high')}\))?$"
)
# As versions before 1.0 have it.
_OLD = late(
    rf"^(?P<what>mean|std dev): {_PART.format('value')}, lb {_PART.format('low')}, "
    rf"ub {_PART.format('high')}"
)
_OUTLIERS = late(r"^variance introduced by outliers: (?P<percent>-?\d+(?:\.\d+)?)%")
_STATISTICS = {"time": "fit", "mean": "mean", "std dev": "stddev"}


@dataclass
class _Run(Run):
    """All benchmarks of a log; `name` is that of the last."""

    line: int = 0
    name: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("benchmark") and (found := _NAMED.match(text)):
        run.name = found["name"]
        return
    of: dict[str, Any] = {"benchmark": run.name or "benchmark"}
    name = of["benchmark"]
    if found := _FIGURE.match(text) or _OLD.match(text):
        if found["value_unit"] == "R²":
            if not found["what"]:
                reading.add(f"{name} R²", found["value"], "1", "", of)
            return
        if not found["what"]:
            return
        statistic = _STATISTICS[found["what"]]
        _add(reading, name, found["value"], found["value_unit"], statistic, of)
        if found["low"] and statistic != "stddev":
            called = name if statistic == "fit" else f"{name} mean"
            _add(reading, called, found["low"], found["low_unit"], "confidence low", of)
            _add(reading, called, found["high"], found["high_unit"], "confidence high", of)
    elif run.results and (found := _OUTLIERS.match(text)):
        reading.add(f"{name} variance by outliers", float(found["percent"]), "%", "", of)


def _add(
    reading: Reading[_Run], name: str, value: str, unit: str, statistic: str, of: dict[str, Any]
) -> None:
    if unit != "R²" and value[-1].isdecimal():
        figure, own = time_of(float(value), unit)
        reading.add(name, figure, own, statistic, of)


read = LineReader(TOOL, _Run, _line)

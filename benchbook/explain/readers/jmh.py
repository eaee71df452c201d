"""JMH: its table of results."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "jmh"
_HEAD = late(
    r"^Benchmark\s+(?:\([^)]*\)\s+)*Mode\s+(?:Cnt|Samples)\s+Score\s+(?:Score )?Error\s+Units$"
)
_ROW = late(
    r"^(?P<name>[\w.$:·/-]+)(?P<parameters>(?:\s+\S+)*?)\s+(?P<mode>thrpt|avgt|sample|ss)\s+(?:"
    r"(?P<count>\d+)\s+)?"
    r"(?P<score>[≈\d.,]+(?:e[+-]?\d+)?|≈ 10[⁻\d⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?:\s+±?\s*(?P<error>[\d.,]+|NaN))?\s+"
    r"(?P<unit>\S+)$"
)
_UNITS = {"ns/op": "ns", "us/op": "us", "ms/op": "ms", "s/op": "s"}


def _line(reading: Reading[Run], text: str) -> None:
    if _HEAD.match(text):
        reading.begin()
    elif reading.run.line and (found := _ROW.match(text)):
        of: dict[str, Any] = {"benchmark": found["name"], "mode": found["mode"]}
        if found["count"]:
            of["repetitions"] = int(found["count"])
        if parameters := found["parameters"].split():
            of["parameters"] = " ".join(parameters)
        unit = _UNITS.get(found["unit"], found["unit"].replace("ops/", "operations/"))
        if reading.add(found["name"], found["score"], unit, "mean", of) and found["error"]:
            reading.add(found["name"], found["error"], unit, "confidence 99.9 %", of)


def _uncommented(text: str) -> str:
    """A line without the mark of a comment: people keep the table with the code."""
    return text.strip().lstrip("/*#").strip()


read = LineReader(TOOL, Run, _line, clean=_uncommented)

"""Hyrise's comparison of two commits: latency and throughput of each query, and its p-value."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "hyrise comparison"
_N = r"\d{1,12}(?:\.\d{1,6})?|nan"
_HEAD = late(
    r"\|\s*(?:Item|Benchmark)\s*\|\|\s*Latency \(ms/iter\)\s*\|\s*Change\s*\|\|\s*Throughput"
)
_CHANGE = r"[+-]\d{1,9}(?:\.\d+)?|\+nan"
_PAIR = rf"(?P<@_old>{_N})\s*\|\s*(?P<@_new>{_N})\s*\|\s*(?P<@>{_CHANGE})%"
_ROW = late(
    r"^[-+]?\s*\|\s*(?P<item>\S(?:[^|]{0,60}\S)?)\s*\|\|\s*"
    + _PAIR.replace("@", "time")
    + r"\S?\s*\|\|\s*"
    + _PAIR.replace("@", "rate")
    + r"\S?\s*\|\s*(?P<test>[^|]{0,40}?)\s*\|$"
)
_FIGURES = (("time", "latency", "ms"), ("rate", "throughput", "iterations/s"))


def _line(reading: Reading[Run], text: str) -> None:
    if "Latency (ms/iter)" in text and _HEAD.search(text):
        reading.begin()
    elif reading.run.line and "||" in text and (found := _ROW.match(text)):
        of: dict[str, Any] = {"label": " ".join(found["item"].split())}
        for column, name, unit in _FIGURES:
            for side in ("old", "new"):
                if found[f"{column}_{side}"] != "nan":
                    reading.show(f"{name} {side}", found[f"{column}_{side}"], unit, "", of)
            if "nan" not in found[column]:
                reading.show(f"{name} change", float(found[column]), "%", "", of)
        if found["test"].replace(".", "", 1).isdecimal():
            reading.show("p-value", found["test"], "1", "", of)


read = LineReader(TOOL, Run, _line)

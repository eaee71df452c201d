"""Rates in sentences that name the most that is possible next to them: `149 GB/s, when the
theoretical maximum is 135 GB/s`, `only 12 GB/s out of a peak of 32 GB/s`.

They are read where nothing else was recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result

TOOL = "text"
LOOKS_FOR = "sentences with a rate and its peak: `149 GB/s of theoretical 135 GB/s`"
_UNITS = {
    "TB/s": "TB/s", "GB/s": "GB/s", "MB/s": "MB/s", "GB/sec": "GB/s", "MB/sec": "MB/s",
    "GByte/s": "GB/s", "GBytes/s": "GB/s", "MBytes/s": "MB/s", "TByte/s": "TB/s",
    "GBps": "GB/s", "GiB/s": "GiB/s", "MiB/s": "MiB/s", "Gbit/s": "Gbit/s", "Gbps": "Gbit/s",
    "Mbps": "Mbit/s", "Mbit/s": "Mbit/s", "TFLOPS": "Tflop/s", "TFlops": "Tflop/s",
    "TFLOP/s": "Tflop/s", "GFLOPS": "Gflop/s", "GFlops": "Gflop/s", "GFLOP/s": "Gflop/s",
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_FIGURE = late(rf"(?<![\w.,/:-])[~≈]?(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{_UNIT})(?![\w/])")
_PEAK = late(
    r"(?i)\b(?:theoretical(?:ly)?|peak|nominal|rated|spec(?:s|ification|ified)?|data ?sheet"
    r"|advertised|maximum possible)\b"
)
_SENTENCE = late(r"(?<=[.!?;])\s+")
_BEFORE, _BEHIND = 40, 15  # characters between a figure and the word that calls it a peak
_LONGEST, _MOST = 1500, 40  # characters of a line; figures


def read(log: Log) -> list[Report]:
    """One report of all such pairs."""
    results: list[Result] = []
    words = ("heoretical", "peak", "Peak", "nominal", "rated", "spec", "atasheet", "dvertised")
    for line in log.having(*words):
        if len(line.text) <= _LONGEST and len(results) < _MOST:
            results += _pairs(log, line, len(results))
    return [Report(TOOL, results, results[0].line)] if results else []


def _pairs(log: Log, line: Line, before: int) -> Iterator[Result]:
    """The figures of a sentence that has two of one dimension, of which one is called a peak."""
    for at, sentence in enumerate(_SENTENCE.split(line.text)):
        found = list(_FIGURE.finditer(sentence))
        if len(found) != 2 or len({_dimension(own["unit"]) for own in found}) != 1:
            continue
        is_peak = [
            _is_peak(sentence, own, other) for own, other in zip(found, found[::-1], strict=True)
        ]
        values = [log.number(own["value"]) for own in found]
        if sum(is_peak) != 1 or None in values:
            continue
        of: dict[str, Any] = {"benchmark": f"pair {before}.{at}"}
        for own, peak, value in zip(found, is_peak, values, strict=True):
            name = "stated peak" if peak else "rate"
            yield Result(name, value or 0.0, _UNITS[own["unit"]], line.number, "", of)


def _is_peak(sentence: str, own: re.Match[str], other: re.Match[str]) -> bool:
    """Whether the words next to a figure call it a peak, with no other figure between."""
    begin = max(own.start() - _BEFORE, other.end() if other.start() < own.start() else 0)
    end = min(own.end() + _BEHIND, other.start() if other.start() > own.start() else len(sentence))
    before = sentence[begin : own.start()]
    behind = sentence[own.end() : end]
    return bool(_PEAK.search(before) or _PEAK.match(behind.lstrip(" (,")))


def _dimension(unit: str) -> str:
    return "flop" if "flop" in unit.lower() else "rate"

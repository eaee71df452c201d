"""stream2, McCalpin's walk through array sizes: its table of four kernels, in Fortran and in C."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import is_number, printed_lines

TOOL = "stream2"
LOOKS_FOR = "stream2: its table 'Size  Iter  FILL  COPY  DAXPY  DOT'"
WORDS = ("DAXPY",)

_TABLE = late(r"\bSize +Iter +FILL +COPY +DAXPY +(?P<last>DOT|SUM)$")
_CLOCK = late(r"\bSmallest time delta is +(\d+(?:\.\d+)?(?:[eEdD][+-]?\d{1,3})?)$")
_ARRAYS = {"FILL": 1, "COPY": 2, "DAXPY": 2, "DOT": 2, "SUM": 1}
_ELEMENT_BYTES = 8
_LARGEST = 12  # digits of a size
# Behind the rates is the smallest time of the clock as a share of a pass of FILL: no result.
_COLUMNS = (6, 7)


def read(log: Log) -> list[Report]:
    """One report for each table."""
    reports: list[Report] = []
    kernels: tuple[str, ...] = ()
    resolution: float | None = None
    for line in printed_lines(log):
        text = line.text.strip()
        if clock := _CLOCK.search(text):
            resolution = log.number(clock[1].replace("d", "e").replace("D", "e"))
        elif table := _TABLE.search(text):
            kernels = ("FILL", "COPY", "DAXPY", table["last"])
            facts: dict[str, Any] = {}
            if is_number(resolution) and resolution > 0:
                facts["clock_resolution_ns"] = resolution * 1e9
            reports.append(Report(TOOL, [], line.number, facts=facts))
            resolution = None
        elif kernels and text:
            rows = _row(log, line, text.split(), kernels)
            reports[-1].results += rows
            kernels = kernels if rows else ()
    return [one for one in reports if one.results]


def _row(log: Log, line: Line, cells: list[str], kernels: tuple[str, ...]) -> list[Result]:
    """The rates of a row, which gives the best of so many repetitions in MB of 10^6 bytes."""
    if len(cells) not in _COLUMNS or not all(
        one.isdecimal() and len(one) <= _LARGEST for one in cells[:2]
    ):
        return []
    array_bytes, repetitions = int(cells[0]) * _ELEMENT_BYTES, int(cells[1])
    rates = [log.number(one) for one in cells[2 : 2 + len(kernels)]]
    return [
        Result(
            name,
            rate,
            "MB/s",
            line.number,
            "best",
            {
                "array_bytes": array_bytes,
                "working_set_bytes": _ARRAYS[name] * array_bytes,
                "repetitions": repetitions,
            },
        )
        for name, rate in zip(kernels, rates, strict=True)
        if is_number(rate)
    ]

"""stream2, McCalpin's walk through array sizes: its table of four kernels, in Fortran and in C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "stream2"

_TABLE = late(r"\bSize +Iter +FILL +COPY +DAXPY +(?P<last>DOT|SUM)$")
_CLOCK = late(r"\bSmallest time delta is +(\d+(?:\.\d+)?(?:[eEdD][+-]?\d{1,3})?)$")
_ARRAYS = {"FILL": 1, "COPY": 2, "DAXPY": 2, "DOT": 2, "SUM": 1}
_ELEMENT_BYTES = 8
_LARGEST = 12  # digits of a size
# Behind the rates is the smallest time of the clock as a share of a pass of FILL: no result.
_ROW = late(rf"^\d{{1,{_LARGEST}}}\s+\d{{1,{_LARGEST}}}(?:\s+\S+){{4,5}}$")


@dataclass
class _Run(Run):
    """One table; `next_facts` is what stands above the next one."""

    kernels: tuple[str, ...] = ()
    next_facts: dict[str, Any] = field(default_factory=dict)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _CLOCK.search(text):
        resolution = reading.number(found[1].lower().replace("d", "e"))
        if is_number(resolution) and resolution > 0:
            reading.run.next_facts = {"clock_resolution_ns": resolution * 1e9}
    elif found := _TABLE.search(text):
        kernels = ("FILL", "COPY", "DAXPY", found["last"])
        reading.begin(kernels=kernels, facts=reading.run.next_facts)
    elif not _ROW.match(text) or not _row(reading, text):
        reading.run.kernels = ()  # rows of another tool may follow


def _row(reading: Reading[_Run], text: str) -> bool:
    """The rates of a row, which gives the best of so many repetitions in MB of 10^6 bytes."""
    size, repetitions, *rates = text.split()
    array_bytes, is_row = int(size) * _ELEMENT_BYTES, False
    for name, printed in zip(reading.run.kernels, rates, strict=False):
        of = {"array_bytes": array_bytes, "working_set_bytes": _ARRAYS[name] * array_bytes}
        rate = reading.number(printed)
        if is_number(rate):
            is_row |= reading.add(
                name, rate, "MB/s", "best", of | {"repetitions": int(repetitions)}
            )
    return is_row


read = LineReader(TOOL, _Run, _line)

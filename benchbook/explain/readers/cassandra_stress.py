"""cassandra-stress: its rows of intervals, and the results at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, NUMBER, RATE, TIME

TOOL = "cassandra-stress"
_HEAD = late(r"^type,? +total ops, +op/s,")
_OLD_HEAD = "total,interval_op_rate,interval_key_rate,"
_COLUMNS = {
    "op/s": (RATE, "operations/s"), "mean": (TIME, "ms"), "med": (f"median {TIME}", "ms"),
    ".99": (f"p99 {TIME}", "ms"), "max": (f"longest {TIME}", "ms"), "errors": ("errors", "errors"),
    "interval_op_rate": (RATE, "operations/s"), "latency": (TIME, "ms"),
    "99.9th": (f"p99.9 {TIME}", "ms"),
}  # fmt: skip
# Without its head: the columns of versions 2.1 and later.
_USUAL = (
    "total ops", "op/s", "pk/s", "row/s", "mean", "med", ".95", ".99", ".999", "max", "time",
    "stderr", "errors",
)  # fmt: skip
_ROW = late(rf"^(?:\w{{1,20}} )?total, +(?P<cells>\d+(?:, +-?{NUMBER}){{12,30}})$")
_OLD_ROW = late(rf"^\d{{1,15}}(?:,{NUMBER}){{5,8}}$")
_RESULT = late(
    r"^(?P<what>op rate|interval_op_rate|partition rate|row rate|latency mean|latency median|"
    r"latency (?P<share>\d{2}(?:\.\d{1,2})?)(?:th)? percentile|latency max|total partitions|"
    r"total errors|total operation time) *: *(?P<value>[\d.,:]+)(?: ?(?:op/s|pk/s|row/s|ms))?"
    r"(?: +\[.*)?$",
    2,
)
_THREADS = late(r"^(?:Running [\w-]+ )?with (?P<count>\d{1,6}) threads\b")
_STATISTICS = {"latency mean": "mean", "latency median": "median", "latency max": "max"}


@dataclass
class _Run(Run):
    """One start; `heads` of its rows."""

    heads: list[str] = field(default_factory=list)
    intervals: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.match(text) or text.startswith(_OLD_HEAD):
        if run.results:
            run = reading.begin()
        run.line = run.line or reading.line.number
        run.heads = [head.strip() for head in text.removeprefix("type").lstrip(", ").split(",")]
    elif found := _ROW.match(text.removeprefix("E ").strip()):
        _row(reading, found["cells"].split(","), run.heads or list(_USUAL))
    elif run.heads and run.heads[0] == "total" and _OLD_ROW.match(text):
        _row(reading, text.split(","), run.heads)
    elif text.startswith("Running ") and (found := _THREADS.search(text)):
        if run.results:
            run = reading.begin()
        run.facts["concurrency"] = int(found["count"])
    elif ":" in text and (run.results or "ate" in text) and (found := _RESULT.match(text)):
        _result(reading, found["what"].lower(), found["share"], found["value"])


def _row(reading: Reading[_Run], cells: list[str], heads: list[str]) -> None:
    run = reading.run
    of: dict[str, Any] = {"interval": run.intervals}
    run.intervals += 1
    for head, cell in zip(heads, cells, strict=False):
        if head in _COLUMNS:
            name, unit = _COLUMNS[head]
            reading.add(name, cell.strip(), unit, "interval", of)


def _result(reading: Reading[_Run], what: str, share: str | None, value: str) -> None:
    run = reading.run
    if what == "total operation time":
        parts = value.split(":")
        if len(parts) == 3 and all(part.isdecimal() and len(part) < 6 for part in parts):
            hours, minutes, seconds = map(int, parts)
            run.facts["elapsed_s"] = float(3600 * hours + 60 * minutes + seconds)
        return
    digits = value.replace(",", "")
    if what in ("op rate", "interval_op_rate"):
        reading.add(RATE, digits, "operations/s", "mean")
    elif what == "total partitions":
        reading.add(COUNT, digits, "partitions", "total")
    elif what == "total errors":
        if (count := reading.number(digits)) and count > 0:
            reading.add(FAILED, count, "operations", "", {"failure": "errors"})
    elif share:
        reading.add(TIME, digits, "ms", "median" if float(share) == 50 else f"p{float(share):g}")
    elif what in _STATISTICS:
        reading.add(TIME, digits, "ms", _STATISTICS[what])


read = LineReader(TOOL, _Run, _line)

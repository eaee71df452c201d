"""Rates over time, one a line with its moment, as programs print them while they run:
`t= 30s  110,313 ev/s`, `[10s] 532 MB/s`.

They are read where nothing else was recognised, and only where several such lines follow.
"""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.readers.common.load_lines import RATE
from benchbook.explain.readers.common.table_columns import UNITS

TOOL = "rates over time"
LOOKS_FOR = "five lines and more of a moment and a rate: `t= 30s  110,313 ev/s`, `[10s] 532 MB/s`"
_LINE = late(
    r"^\[?(?:t ?[=:]? ?|time ?[=:]? ?)?(?P<at>\d{1,6}(?:\.\d{1,3})?) ?(?:s|secs?|seconds)\b\]?"
    r"[:,|]?\s{1,12}(?P<value>\d[\d,]{0,20}(?:\.\d{1,9})?) ?"
    r"(?P<unit>[A-Za-z]{1,14}/s(?:ec)?|[qtrf]ps|iops)$"
)
_SHORT = {"qps": "queries/s", "tps": "transactions/s", "rps": "requests/s", "fps": "frames/s"}
_SHORT |= {"iops": "operations/s", "ops": "operations/s"}
_LEAST, _MOST, _GAP = 5, 5000, 3


def read(log: Log) -> list[Report]:
    """One report for each row of such lines."""
    reports: list[Report] = []
    row: list[Result] = []
    for line in log.like(lambda text: _LINE.match(text.strip())):
        found = _LINE.match(line.text.strip())
        value = log.number(found["value"]) if found else None
        if found is None or value is None or len(row) >= _MOST:
            continue
        at, unit = float(found["at"]), _unit(found["unit"])
        if row and _is_other(row, at, unit, line.number):
            reports += _report(row)
            row = []
        of: dict[str, Any] = {"interval": len(row), "interval_end_s": at}
        row.append(Result(RATE, value, unit, line.number, "interval", of))
    return [*reports, *_report(row)]


def _is_other(row: list[Result], at: float, unit: str, line: int) -> bool:
    last = row[-1]
    return unit != last.unit or at <= last.of["interval_end_s"] or line > last.line + _GAP


def _unit(text: str) -> str:
    unit = text.removesuffix("ec") if text.endswith("/sec") else text
    return UNITS.get(unit) or _SHORT.get(unit.lower()) or unit


def _report(row: list[Result]) -> list[Report]:
    return [Report(TOOL, row, row[0].line)] if len(row) >= _LEAST else []

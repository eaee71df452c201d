"""Lists of rates or times by size, a line each, as programs of people print them: `Measuring 32MB:
52.8GB/s`, `4 KiB: 1.2 ns`.

They are read where nothing else was recognised, and only four lines and more that are alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.readers.common.table_columns import UNITS

TOOL = "list of sizes"
LOOKS_FOR = "four lines and more of a size and its figure: `32 MiB: 52.8 GB/s`"
_FIGURES = [unit for unit in UNITS if unit.endswith("/s") or unit in ("ns", "us", "ms")]
_UNIT = "|".join(re.escape(unit) for unit in sorted(_FIGURES, key=len, reverse=True))
_LINE = late(
    r"^(?:[-*\u2022] +)?"
    r"(?P<words>(?:[A-Za-z][A-Za-z_ -]{0,40}?)?)[ \t]*(?<![A-Za-z])(?P<size>\d{1,7}(?:\.\d)?) ?"
    r"(?P<prefix>[kKMG]?)(?P<binary>i?)B?(?:ytes)?[ \t]*(?:[:=]|->|\|)[ \t]*"
    rf"(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{_UNIT})$"
)
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3}
_LEAST_LINES = 4
_MARKS = (":", "=", "->", "|")
_LONGEST = 120
_GAP = 2  # lines


def read(log: Log) -> list[Report]:
    """One report for each list whose sizes grow."""
    reports: list[Report] = []
    group: list[Result] = []
    for line in log.like(_may_be_row):
        found = _LINE.match(line.text.strip())
        value = log.number(found["value"]) if found else None
        if found is None or value is None:
            continue
        # Who writes kB of buffers means 1024 bytes.
        size = round(float(found["size"]) * 1024 ** _POWERS[found["prefix"]])
        name = found["words"].strip() or "figure"
        of = {"working_set_bytes": size}
        result = Result(name, value, UNITS[found["unit"]], line.number, "", of)
        if group and not _goes_on(group, result):
            reports += _report(group)
            group = []
        group.append(result)
    return [*reports, *_report(group)]


def _may_be_row(line: str) -> bool:
    if len(line) > _LONGEST or not any(mark in line for mark in _MARKS):
        return False
    return bool(_LINE.match(line.strip()))


def _goes_on(group: Sequence[Result], result: Result) -> bool:
    last = group[-1]
    is_near = result.line <= last.line + _GAP
    grows = result.of["working_set_bytes"] > last.of["working_set_bytes"]
    return is_near and grows and (result.name, result.unit) == (last.name, last.unit)


def _report(group: Sequence[Result]) -> list[Report]:
    return [Report(TOOL, list(group), group[0].line)] if len(group) >= _LEAST_LINES else []

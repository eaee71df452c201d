"""What pandas prints of a series or a column by describe(): count, mean, std, min, quartiles, max.

They are read where nothing else was recognised. The unit is that of the line above, if it has one.
"""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.table_columns import UNITS
from benchbook.explain.results import GIVEN

TOOL = "pandas"
LOOKS_FOR = "pandas: `describe()` of times or rates, with `count`, `mean`, `std`, `25%`"
_MORE = {"nsec": "ns", "usec": "us", "msec": "ms"}
_ROW = late(
    r"^(?P<name>count|mean|std|min|\d{1,2}(?:\.\d{1,2})?%|max) {2,60}"
    r"(?P<value>-?\d{1,18}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)$"
)
_NAMES = "|".join(sorted((*(unit for unit in UNITS if unit != "%"), *_MORE), key=len, reverse=True))
_UNIT = late(rf"(?:\bin [`']?|[(\[])(?P<unit>{_NAMES})(?:[`')\]:]|$)")
_STATISTICS = {"mean": "mean", "std": "stddev", "min": "min", "max": "max", "50%": "median"}
_NEEDED = {"mean", "std", "max"}


def read(log: Log) -> list[Report]:
    """One report for each series."""
    reports: list[Report] = []
    rows: dict[str, tuple[Line, str]] = {}
    above = ""
    if not all(map(log.has, _NEEDED)):
        return []
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if found := _ROW.match(text):
            if found["name"] == "count":
                rows = {}
            rows[found["name"]] = (line, found["value"])
            continue
        if rows.keys() >= _NEEDED:
            reports.append(_report(log, rows, above))
        if rows or text:
            above = text
        rows = {}
    return reports


def _report(log: Log, rows: dict[str, tuple[Line, str]], above: str) -> Report:
    found = _UNIT.search(above) if len(above) < 200 else None
    unit = (_MORE.get(found["unit"]) or UNITS.get(found["unit"], "")) if found else ""
    results = []
    for name, (line, text) in rows.items():
        if name == "count" or (value := log.number(text)) is None:
            continue
        statistic = _STATISTICS.get(name, f"p{name.rstrip('%')}")
        called = "time" if unit in ("ns", "us", "ms", "s") else "value"
        kind = statistic if unit else GIVEN
        results.append(Result(called if unit else name, value, unit or "1", line.number, kind))
    facts = {"repetitions": int(float(rows["count"][1]))} if "count" in rows else {}
    notes = (
        [] if unit else ["The statistics of pandas name no unit, so they are shown as they stand."]
    )
    return Report(TOOL, results, results[0].line, "", facts, notes)

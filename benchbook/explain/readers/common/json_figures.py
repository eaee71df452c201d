"""Figures of JSON that no reader knows: numbers whose keys name a unit (`mean_ms`), or speak of
time or speed next to such (`iterations`, `p99`).

They are read where nothing else was recognised. What names no unit is shown as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Log, Report, Result
from benchbook.explain.readers.common.json_values import is_number
from benchbook.explain.readers.common.key_units import named_unit
from benchbook.explain.readers.common.table_cells import CELL, statistic_of
from benchbook.explain.readers.common.table_columns import UNITS
from benchbook.explain.results import GIVEN

TOOL = "figures in JSON"
LOOKS_FOR = 'JSON with keys that name units: `{"name": "sort", "mean_ms": 12.3}`'
_NAMES = (
    "name", "benchmark", "bench", "test", "case", "title", "label", "scenario", "operation", "op",
    "kernel", "workload", "method", "function", "variant", "metric", "group",
)  # fmt: skip
_OF_SPEED = late(
    r"(?i)laten|throughput|bandwidth|elapsed|duration|\btime\b|time$|mean|median|\bstd\b|std_?dev|\bavg\b"
    r"|average|^p\d\d|percentile|speed_?up|\bops\b|^(?:min|max|score|value|rate)$"
)
# Settings of a service or a test, and ages: none is a figure of work.
_SETTING = late(
    r"(?i)time_?out|interval|delay|ttl|\bage\b|retention|period|sleep|grace|expir|limit|threshold"
    r"|timestamp|created|updated|start_?time|end_?time|epoch"
)
_STATISTICS = late(r"(?i)(?:value|mean|average|avg|median|min|max|std_?dev|p\d{2}(?:\.\d+)?|score)")
_TITLE = late(r"^\W{0,6}(?P<title>[A-Za-z][\w /().-]{1,60}):\s*$")  # above a document
_LEAST, _LEAST_BARE, _MOST, _DEEPEST = 2, 3, 2000, 40
_LONGEST_LABEL = 120


def read(log: Log) -> list[Report]:
    """One report for each document, and one for all that have a figure or two, as lines of JSON."""
    reports: list[Report] = []
    small: list[Result] = []
    lines = {line.number: line.text for line in log.lines} if log.documents else {}
    for document in log.documents:
        above = _TITLE.match(lines.get(document.number - 1, ""))
        title = above["title"] if above else ""
        results = list(islice(_figures(document, document.value, title, ""), _MOST))
        if _is_enough(results):
            reports.append(Report(TOOL, results, results[0].line, "", {}, _notes(results)))
        elif len(small) < _MOST and any(result.unit != "1" for result in results):
            small += results
    if _is_enough(small):
        reports.append(Report(TOOL, small, small[0].line, "", {}, _notes(small)))
    return sorted(reports, key=lambda report: report.line)


def _is_enough(results: list[Result]) -> bool:
    with_unit = sum(result.unit != "1" for result in results)
    return with_unit >= _LEAST or (not with_unit and len(results) >= _LEAST_BARE)


def _notes(results: list[Result]) -> list[str]:
    if all(result.unit != "1" for result in results):
        return []
    return ["Some keys of this JSON name no unit, so their figures are shown as they stand."]


def _figures(
    document: Document, value: Any, label: str, key: str, deep: int = 0
) -> Iterator[Result]:
    """The figures of a value that stands under `key`."""
    if deep > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                yield from _figures(document, item, label, key, deep + 1)
        return
    own = next((text for name in _NAMES if isinstance(text := value.get(name), str) and text), "")
    label = " ".join(filter(None, (label, own or key)))[-_LONGEST_LABEL:]
    unit = next(
        (UNITS.get(str(value[name]), "") for name in ("unit", "units") if name in value), ""
    )
    line = document.line_of(value)
    for name, item in value.items():
        if isinstance(item, dict | list):
            yield from _figures(document, item, label, name, deep + 1)
        elif not _SETTING.search(name) and (own_figure := _figure(name, item, unit)):
            called, number, own_unit = own_figure
            statistic = statistic_of(called.replace("_", " "))
            of = {"label": label} if label else {}
            kind = statistic if own_unit != "1" else GIVEN
            yield Result(called or "value", number, own_unit, line, kind, of)


def _figure(name: str, item: Any, unit: str) -> tuple[str, float, str] | None:
    """The name, number and unit of a member; None where it is no figure."""
    if isinstance(item, str):
        found = CELL.fullmatch(item) if len(item) < _LONGEST_LABEL else None
        own = UNITS.get(found["unit"] or "", "") if found else ""
        digits = found["value"].replace(",", "") if found else ""
        return (
            (name, float(digits), own) if own and digits.replace(".", "", 1).isdecimal() else None
        )
    if not is_number(item):
        return None
    called, own = named_unit(name)
    if own:
        return called or name, float(item), own
    if unit and _STATISTICS.fullmatch(name):
        return name, float(item), unit
    return (name, float(item), "1") if _OF_SPEED.search(name) else None

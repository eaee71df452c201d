"""pyperf (and its older name, perf): its JSON, and what `timeit`, `show` and `stats` print."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Line, Log, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common import json_values
from benchbook.explain.readers.common.json_values import list_at, object_at, objects_at
from benchbook.explain.units import in_base

TOOL = "pyperf"

_NUMBER = r"[\d.,]+(?:e[+-]?\d+)?"
_UNIT = r"(?:ns|us|ms|sec|min|hour|s|bytes|byte|KiB|MiB|GiB|kB|MB|GB|B)"
_SPREAD = late(
    r"^(?:(?P<name>\S[^+\n]{0,200}?): )?(?P<what>Mean \+- std dev|Median \+- (?:MAD|std dev)): +"
    rf"(?P<middle>{_NUMBER})(?: (?P<unit>{_UNIT}))? \+- "
    rf"(?P<spread>{_NUMBER})(?: (?P<spread_unit>{_UNIT}))?$"
)
_COMPARED = late(
    rf"^(?:(?P<name>[^+\n]{{1,200}}?): )?(?P<what>Mean|Median) \+- std dev: "
    # Without names of the sides by pyperformance 1.x.
    rf"(?P<first>(?:\[.+?\] )?{_NUMBER} {_UNIT} \+- {_NUMBER} {_UNIT}) -> "
    rf"(?P<second>(?:\[.+?\] )?{_NUMBER} {_UNIT} \+- {_NUMBER} {_UNIT}):"
    r"(?: (?P<times>\d{1,9}(?:\.\d{1,3})?)x (?P<way>faster|slower))?"
)
# What `compare_to --group-by-speed` lists under its titles.
_GROUP = late(r"^(?:Slower|Faster|Same speed) \(\d+\):$")
_GROUPED = late(
    rf"^(?:- )?(?P<name>\S.{{0,200}}?): (?P<first>{_NUMBER} {_UNIT} \+- {_NUMBER} {_UNIT}) -> "
    rf"(?P<second>{_NUMBER} {_UNIT} \+- {_NUMBER} {_UNIT}): "
    r"(?:(?P<times>\d{1,9}(?:\.\d{1,3})?)x (?P<way>faster|slower)|no change)"
)
_SIDE = late(
    rf"(?:\[(?P<side>.+)\] )?(?P<middle>{_NUMBER}) (?P<unit>{_UNIT}) \+- "
    rf"(?P<spread>{_NUMBER}) (?P<spread_unit>{_UNIT})"
)
_CELL = late(
    rf"({_NUMBER}) ({_UNIT})"
    r"(: (?:(?P<times>\d{1,9}(?:\.\d{1,3})?)x (?P<way>faster|slower)(?: \([^()]{1,40}\))?"
    r"|no change|not significant))?"
)
# What `dump` shows of a run: the value, and how far it is from the mean.
_LAST_COMPARED = " -> "  # of a line that compares two sides
_RUN = late(r"^Run (\d{1,6}): ")
_VALUE = late(rf"^- (value|warmup) \d+: ({_NUMBER}) ({_UNIT})(?: \([+-]\d+%\))?(?: \(|$)")
_PERCENTILE = late(rf"^(\d?[1-9]|\d0)th percentile: ({_NUMBER}) ({_UNIT}) \(")
_UNSTABLE = "WARNING: the benchmark result may be unstable"
_DEVIATION = late(
    rf"^\* the standard deviation \(({_NUMBER}) ({_UNIT})\) is (\d+)% of the mean "
    rf"\(({_NUMBER}) ({_UNIT})\)"
)
_DISTURBED = (
    " Something disturbed values so far above the mean: interrupts, other programs, a changing "
    "clock. Tune the system (pyperf system tune), take more values, and quote the median"
)
_LONGEST = late(rf"^\* the maximum \(({_NUMBER}) ({_UNIT})\) is \d+% greater than the mean")
_EDGE = late(rf"^(Minimum|Maximum): +({_NUMBER}) ({_UNIT})(?: \([+-]?\d+%\))?$")
_NEAR = 6  # lines from the first of its figures to the last
_TITLE = late(r"^(?:### (?=\S)|# (?=[\w.-]+$))(.{1,200}?)(?: ###)?$")
_COUNT = late(r"^Total number of values: (\d+)$")
_UNITS = {"sec": "s", "second": "s", "byte": "B", "bytes": "B", "integer": "1", "hour": "h"}
_SAID = {
    "Mean +- std dev": ("mean", "stddev"),
    "Median +- MAD": ("median", "mad"),
    "Median +- std dev": ("median", "stddev"),  # of perf 0.x
}
_RESOLUTION = late(r"resolution: (\d+(?:\.\d+)?) (ns|us|ms|s)")
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


_MOST_LOOPS = 1 << 62
_OF_TEXT = (
    " +- std dev:",
    " +- MAD:",
    "Slower (",
    "Faster (",
    "Same ",
    "x slower",
    "x faster",
    "* the standard deviation (",
)


def read(log: Log) -> list[Report]:
    """One report for each benchmark."""
    reports = [item for document in log.documents for item in _of_document(document)]
    if any(map(log.has, _OF_TEXT)):
        reports += _of_text(log)
    if log.has("- value 1: "):
        reports += _of_dump(log)
    if log.has("| Benchmark "):
        reports += _of_tables(log)
    return sorted(reports, key=lambda report: report.line)


def _of_document(document: Document) -> list[Report]:
    common = object_at(document.value, "metadata")
    return [
        report
        for item in objects_at(document.value, "benchmarks")
        if isinstance(item.get("runs"), list)
        for report in _of_benchmark(document.line_of(item), item, common)
    ]


def _of_benchmark(line: int, benchmark: dict[str, Any], common: dict[str, Any]) -> list[Report]:
    about = {**common, **object_at(benchmark, "metadata")}
    runs = objects_at(benchmark, "runs")
    values = [_numbers(list_at(run, "values")) for run in runs]
    warmups = [_numbers(pair[-1] for pair in _pairs(list_at(run, "warmups"))) for run in runs]
    flat = [value for of_run in values for value in of_run]
    if not flat:
        return []
    name = str(about.get("name") or "benchmark")
    unit = _UNITS.get(str(about.get("unit") or "second"), "s")
    rows: list[Result] = []
    number = 0
    loops = [_loops(about | object_at(run, "metadata")) for run in runs]
    for index, of_run in enumerate(values):
        for each in warmups[index]:
            rows.append(Result(name, each, unit, line, "warm-up", {"process": index}))
        for each in of_run:
            of: dict[str, Any] = {"process": index, "repetition": number}
            if loops[index] and unit == "s":
                of["elapsed_s"] = each * loops[index]
            rows.append(Result(name, each, unit, line, "sample", of))
            number += 1
    # The file has samples only; pyperf shows these of them.
    counted = {"repetitions": len(flat), "computed": True}
    are_numbers = all(map(is_number, flat))
    if are_numbers:
        rows.insert(0, Result(name, statistics.fmean(flat), unit, line, "mean", counted))
    if are_numbers and len(flat) > 1:
        rows.insert(1, Result(name, statistics.stdev(flat), unit, line, "stddev", counted))
    return [Report(TOOL, rows, line, str(about.get("perf_version") or ""), _facts(about))]


def _loops(about: dict[str, Any]) -> int:
    """How often the work was done for one value, which is what one of them took; 0 if unknown."""
    outer, inner = about.get("loops"), about.get("inner_loops", 1)
    known = isinstance(outer, int) and isinstance(inner, int) and 0 < outer * inner < _MOST_LOOPS
    return outer * inner if known else 0


def _facts(about: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if isinstance(about.get("cpu_model_name"), str):
        facts["cpu"] = about["cpu_model_name"]
    if isinstance(about.get("cpu_count"), int):
        facts["cores"] = about["cpu_count"]
    if isinstance(about.get("loops"), int):
        facts["loops"] = about["loops"]
    if timer := _RESOLUTION.search(str(about.get("timer") or "")):
        facts["clock_resolution_ns"] = float(timer[1]) * _NS[timer[2]]
    return facts


def _numbers(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values if json_values.is_number(value)]


def _pairs(values: list[Any]) -> list[list[Any]]:
    return [pair for pair in values if isinstance(pair, list) and len(pair) == 2]


def _of_text(log: Log) -> list[Report]:
    reports: list[Report] = []
    pending: list[Result] = []
    title, before = "", ""
    grouped = False
    count: int | None = None
    warned: dict[str, Any] = {}
    notes: list[str] = []
    alone: list[Report] = []  # of warnings: `hist` prints no mean beside them
    for line in log.printed_lines():
        text = line.text.strip().strip("`")
        if found := _SPREAD.match(text):
            rows = _spread(log, line, found)
            name = found["name"] or title
            last = reports[-1] if reports else None
            if last and warned is last.facts:
                warned, notes = {}, []
            if last and last.facts.get("open") and last.facts.get("benchmark", "") == name:
                last.results += rows
                del last.facts["open"]
            elif rows:
                reports.append(Report(TOOL, [*pending, *rows], line.number, "", warned, notes))
                warned, notes = {}, []
                if name:
                    reports[-1].facts["benchmark"] = name
                if count:
                    reports[-1].facts["repetitions"] = count
                if found["what"].startswith("Median"):
                    reports[-1].facts["open"] = True
            pending, count = [], None
        elif found := _COMPARED.match(text):
            reports += _compared(log, line, found, found["name"] or title)
        elif (found := _GROUPED.match(text)) and (grouped or found["times"]):
            reports += _compared(log, line, found, found["name"])
        elif reports and text.startswith("Not significant") and _LAST_COMPARED in before:
            reports[-1].facts["tested_same_line"] = line.number
        elif _GROUP.match(text):
            grouped = True
        elif found := _EDGE.match(text):
            row = _result(log, line, found[1][:3].lower(), found[2], found[3])
            if found[1] == "Minimum":
                pending = row
            elif reports and line.number - reports[-1].line <= _NEAR:
                reports[-1].results += row
        elif (found := _PERCENTILE.match(text)) and reports:
            reports[-1].results += _result(log, line, f"p{found[1]}", found[2], found[3])
        elif text.startswith("Total duration: "):
            warned, notes = {}, []  # `stats` warns behind what it warns of
        elif text == _UNSTABLE and reports and _ends_above(reports[-1], line):
            warned, notes = reports[-1].facts, reports[-1].notes
            warned["said_unstable"] = True
        elif text == _UNSTABLE:
            warned, notes = {"said_unstable": True}, []
        elif warned and text.startswith("* "):
            if not notes:
                cause = _DISTURBED if _LONGEST.match(text) else ""
                notes.append(
                    f"pyperf warned that it may be unstable: {text[2:].rstrip('.')}.{cause}"
                )
            warned |= _deviation(log, text, line.number)
            if wide := _DEVIATION.match(text):
                rows = _result(log, line, "mean", wide[4], wide[5])
                rows += _result(log, line, "stddev", wide[1], wide[2])
                alone.append(Report(TOOL, rows, line.number, "", warned, notes))
            longest = _LONGEST.match(text)
            if longest and (longest_ns := _ns(log, longest[1], longest[2])) is not None:
                warned["said_longest_s"] = longest_ns / 1e9
        elif found := _COUNT.match(text):
            count = int(found[1])
        elif found := _TITLE.match(text):
            title = found[1]
        elif before and len(text) == len(before) and set(text) <= {"-", "="}:
            title = before
        before = text
    for report in reports:
        report.facts.pop("open", None)
    return reports or alone


def _ends_above(report: Report, line: Line) -> bool:
    """Whether what `stats` prints of a benchmark ends there: it warns behind its percentiles."""
    last = report.results[-1]
    return last.statistic.startswith("p") and line.number - last.line <= _NEAR


def _deviation(log: Log, text: str, number: int) -> dict[str, Any]:
    """What it warns of: the deviation, the mean, and their ratio in per cent."""
    if (found := _DEVIATION.match(text)) is None:
        return {}
    spread, middle = _ns(log, found[1], found[2]), _ns(log, found[4], found[5])
    if spread is None or middle is None:
        return {}
    return {
        "warned_stddev_ns": spread,
        "warned_mean_ns": middle,
        "warned_share": float(found[3]),
        "warned_in_line": number,
    }


def _ns(log: Log, digits: str, unit: str) -> float | None:
    """A printed time; None where it is none."""
    value = log.number(digits)
    size, base = in_base(value or 0.0, _UNITS.get(unit, unit))
    return size if value is not None and base == "ns" else None


def _of_dump(log: Log) -> list[Report]:
    """What `dump` shows: the values of each run. They are kept from a mean that stands below them,
    for people leave out most of them."""
    reports: list[Report] = []
    process, repetition = 0, 0
    for line in log.printed_lines():
        text = line.text.strip()
        if run := _RUN.match(text):
            if not reports or int(run[1]) <= process:
                reports.append(Report(TOOL, [], line.number))
                repetition = 0
            process = int(run[1])
        elif reports and (found := _VALUE.match(text)):
            of = {"process": process}
            if found[1] == "value":
                of["repetition"] = repetition
                repetition += 1
            statistic = "sample" if found[1] == "value" else "warm-up"
            for item in _result(log, line, statistic, found[2], found[3]):
                reports[-1].results.append(replace(item, of=of))
    return [report for report in reports if report.results]


def _of_tables(log: Log) -> list[Report]:
    """What `pyperf compare_to --table` prints: a row for each benchmark, a column for each file."""
    found: list[Report] = []
    table: list[Report] = []
    sides: list[str] = []
    compared = False  # common words count only where one side is told by the other
    for line in log.printed_lines():
        text = line.text.strip()
        cells = [cell.strip() for cell in text.strip("|").split("|")] if text[:1] == "|" else []
        if len(cells) > 2 and cells[0] == "Benchmark":
            sides, table, compared = cells[1:], [], False
        elif sides and len(cells) > len(sides):
            # A name may have a bar in it, values have none.
            name = " | ".join(cells[: -len(sides)])
            first: Result | None = None  # the others are told by it, and it by none
            for at, (side, cell) in enumerate(zip(sides, cells[-len(sides) :], strict=True)):
                if told := _CELL.fullmatch(cell):
                    compared = compared or bool(told[3])
                    rows = _result(log, line, "mean", told[1], told[2])
                    facts: dict[str, Any] = {"build": side, "benchmark": name}
                    if first and told["times"]:
                        facts |= _times(told["times"], first)
                        facts["is_faster"] = told["way"] == "faster"
                    if at == 0 and not told[3] and rows:
                        first = rows[0]
                    table.append(Report(TOOL, rows, line.number, "", facts))
            if compared:
                found += [report for report in table if report.results]
                table = []
        elif sides and text and not set(text) <= set("+-=|: "):
            sides = []
    return found


def _compared(log: Log, line: Line, found: re.Match[str], title: str) -> list[Report]:
    """Both sides of a line of `pyperf compare_to`."""
    reports = []
    middle = str(found.groupdict("").get("what") or "mean").lower()
    for side in (found["first"], found["second"]):
        build = _SIDE.fullmatch(side)
        if build is None:
            continue
        rows = [
            *_result(log, line, middle, build["middle"], build["unit"]),
            *_result(log, line, "stddev", build["spread"], build["spread_unit"]),
        ]
        facts = {"build": build["side"], "benchmark": title or None}
        reports.append(Report(TOOL, rows, line.number, "", facts))
    told = found.groupdict()
    if told.get("times") and middle == "mean" and len(reports) == 2:
        # pyperf says how many times one is of the other, and in words which way.
        of, to = reports if told["way"] == "slower" else reports[::-1]
        first = of.results[0] if of.results else None
        if first is not None:
            to.facts |= _times(str(told["times"]), first)
    return reports


def _times(said: str, other: Result) -> dict[str, Any]:
    """How many times one is of the other, which stands in the same line."""
    return {
        "said_times": float(said),
        "said_times_line": other.line,
        "fastest_s": in_base(other.value, other.unit)[0] / 1e9,
        "fastest_line": other.line,
    }


def _spread(log: Log, line: Line, found: re.Match[str]) -> list[Result]:
    middle, spread = _SAID[found["what"]]
    return [
        *_result(log, line, middle, found["middle"], found["unit"]),
        *_result(log, line, spread, found["spread"], found["spread_unit"]),
    ]


def _result(log: Log, line: Line, statistic: str, printed: str, unit: str | None) -> list[Result]:
    """`unit`: none of a whole number, which pyperf prints without one."""
    value = log.number(printed)
    if value is None:
        return []
    told = _UNITS.get(unit, unit) if unit else "1"
    return [Result("time", value, told, line.number, statistic)]

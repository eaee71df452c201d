"""hyperfine: what it exports as JSON, CSV, Markdown and AsciiDoc, and what a terminal shows."""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST, unmarked
from benchbook.explain.readers.common.json_values import at, is_number, list_at, object_at
from benchbook.explain.units import in_base

TOOL = "hyperfine"

_STATISTICS = ("mean", "stddev", "median", "min", "max")
_TITLE = late(r"^Benchmark #?\d+: (.+)")
_NUMBER = r"[\d.,]+"
_UNIT = r"(?:µs|μs|us|ms|s|m|h)"
# The signs of a spread and of a range are whatever a wrong code page made of them.
_MEAN = late(
    rf"^Time \(mean .{{1,9}}\): +({_NUMBER}) ({_UNIT}) +\S+ +({_NUMBER}) ({_UNIT})"
    rf"(?: +\\?\[User: ({_NUMBER}) ({_UNIT}), System: ({_NUMBER}) ({_UNIT})\\?\])?"
)
_ONCE = late(
    rf"^Time \(abs .{{1,4}}\): +({_NUMBER}) ({_UNIT})"
    rf"(?: +\[User: ({_NUMBER}) ({_UNIT}), System: ({_NUMBER}) ({_UNIT})\])?"
)
_RANGE = late(
    rf"^Range \(min.{{1,9}}max\): +({_NUMBER}) ({_UNIT}) ?\S{{1,6}} +({_NUMBER}) ({_UNIT})"
    r"(?: +\(?(\d+) runs|$)"  # before 1.5 it did not count them
)
_TABLE = late(
    r"^\|? *Command +\| +Mean \[(\w+|µs)\] +\| +Min"
    r"(?:(?P<both>(?:…|\.\.\.?)Max \[)| \[\w+\] +\| +Max \[)"  # in one cell before 1.6
)
# Before 1.6 without a median.
_CSV = late(r"command([,;\t])mean\1stddev\1(?:median\1)?user\1system\1min\1max")
_CELLS = ("Command", "Mean", "Min", "Max", "Relative")
_HEAD_CELL = late(r"Mean \[([\wµ]+)\]")
_OTHER_HEADS = late(r"(?:Min|Max) \[[\wµ]+\]|Relative")
_OF_ANOTHER = "┊"  # BenchmarkTools of Julia prints such lines with a second column
_PLAIN = late(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_UNITS = {"μs": "us", "µs": "us", "m": "min"}
_FIRST = late(rf"^The first benchmarking run .{{0,80}}\(({_NUMBER}) ({_UNIT})\)")
_RAN = late(r"(\S.*) ran")
_FASTER = late(rf"({_NUMBER})(?: \S{{1,6}} {_NUMBER})? times faster than (\S.*)")
_SPREAD_RATIO = late(rf"({_NUMBER}) ± ({_NUMBER}) times faster than \S.*")
_RELATIVE = late(rf"({_NUMBER})( ± {_NUMBER})?")
_MOST_COMPARED = 100  # commands of one summary
_NEAR = 2  # lines between what is told of the same command
_WARNED = late(r"^Warning: (.+)")


def read(log: Log) -> list[Report]:
    """One report for each command, from whatever form the log has."""
    reports: list[Report] = []
    for document in log.documents:
        reports += _of_document(document)
    reports += _of_terminal(log)
    if log.has("Mean [") or _CSV.search(log.text):
        reports += _of_tables(log)
    if log.has("Mean ["):
        reports += _of_asciidoc(log)
    return sorted(reports, key=lambda report: report.line)


def _of_document(document: Document) -> list[Report]:
    results = list_at(document.value, "results")
    return [
        _of_record(
            document.line_of(result),
            result,
            whole=document.whole or result is not results[-1],
        )
        for result in results
        if isinstance(at(result, "command"), str) and "mean" in result
    ]


def _of_record(line: int, record: dict[str, Any], *, whole: bool = True) -> Report:
    of: dict[str, Any] = {}
    samples = [time for time in list_at(record, "times") if is_number(time)]
    if samples and (whole or "exit_codes" in record):  # these come behind all times
        of["repetitions"] = len(samples)
    rows = _figures({name: item for name, item in record.items() if is_number(item)}, line, of)
    rows += [
        Result("time", float(value), "s", line, "sample", {"repetition": number})
        for number, value in enumerate(samples)
    ]
    notes = []
    failed = [code for code in list_at(record, "exit_codes") if code]
    if failed:
        notes.append(f"{len(failed)} runs of {record['command']!r} did not end with 0.")
    facts = {"command": record["command"]}
    parameters = object_at(record, "parameters")
    facts |= {f"parameter {name}": str(item) for name, item in parameters.items()}
    return Report(TOOL, rows, line, "", facts, notes)


def _figures(numbers: dict[str, float], line: int, of: dict[str, Any]) -> list[Result]:
    """What it exports of a command under these names."""
    statistics = [(name, "time", name) for name in _STATISTICS]
    statistics += [(name, f"{name} time", "mean") for name in ("user", "system")]
    return [
        Result(title, float(numbers[name]), "s", line, statistic, of)
        for name, title, statistic in statistics
        if name in numbers
    ]


_PARTS = (
    "Benchmark ", "Time (", "[User: ", "System: ", "Range (", "Warning: ", " ran", " times faster",
)  # fmt: skip


def _of_terminal(log: Log) -> list[Report]:
    reports: list[Report] = []
    title, title_line, fastest = "", 0, ""
    begun: Line | None = None  # what a mail may have wrapped
    for line in log.having(*_PARTS):
        if len(line.text) > LONGEST:
            continue
        text = unmarked(line.text)
        if found := _TITLE.match(text):
            title, title_line = found[1], line.number
        elif text.startswith("Time (") and (rows := _times(log, line, text)):
            if not title and reports and _is_range_alone(reports[-1], line):
                reports[-1].results += rows  # somebody told them in another order
                continue
            facts = {"command": title} if title else {}
            reports.append(Report(TOOL, rows, title_line or line.number, "", facts))
            title, title_line = "", 0
            begun = Line(line.number, text) if "System: " not in text else None
        elif begun and text.startswith(("[User: ", "System: ")):
            reports[-1].results = _times(log, begun, f"{begun.text} {text}") or reports[-1].results
            begun = None
        elif found := _RANGE.match(text):
            ends = {result.statistic for result in reports[-1].results} if reports else set()
            if not reports or title or ends & {"min", "sample"}:  # the line of its mean was cut
                facts = {"command": title} if title else {}
                reports.append(Report(TOOL, [], title_line or line.number, "", facts))
                title, title_line = "", 0
            _range(log, line, reports[-1], found)
        elif reports and (found := _WARNED.match(_unwrapped(log, line, text))):
            reports[-1].notes.append(f"hyperfine warned: {found[1].split('. ')[0].rstrip('.')}.")
            if found[1].startswith("Statistical outliers were detected"):
                reports[-1].facts["said_unstable"] = True
            if first := _FIRST.search(found[1]):
                value, unit = log.number(first[1]), _UNITS.get(first[2], first[2])
                if value is not None:
                    reports[-1].facts["first_run_s"] = in_base(value, unit)[0] / 1e9
        elif reports and (found := _RAN.fullmatch(text)):
            fastest = found[1]
        elif reports and (found := _FASTER.fullmatch(text)):
            _compared(log, line, reports, fastest, found)
    return [report for report in reports if report.results]


_WRAPPED = 4  # lines of a warning that a narrow terminal broke


def _unwrapped(log: Log, line: Line, text: str) -> str:
    """A warning with the lines that it was broken into; up to the next blank one."""
    if not text.startswith("Warning: "):
        return text
    first = bisect_right(log.lines, line.number, key=lambda each: each.number)
    for below in log.lines[first : first + _WRAPPED]:
        more = unmarked(below.text).strip()
        if not more or more.startswith(("Warning: ", "Benchmark", "```")):
            break
        text = f"{text} {more}"
    return text


def _is_range_alone(report: Report, line: Line) -> bool:
    """Whether just above there are the ends of a range without their mean."""
    ends = [result.statistic for result in report.results]
    return ends == ["min", "max"] and line.number - report.results[-1].line <= _NEAR


def _range(log: Log, line: Line, report: Report, found: re.Match[str]) -> None:
    """Both ends, and how many runs all figures of the report are of."""
    of = {"repetitions": int(found[5])} if found[5] else {}
    ends = (("time", "min", found[1], found[2]), ("time", "max", found[3], found[4]))
    several = [*report.results, *_results(log, line, *ends)]
    report.results = [Result(r.name, r.value, r.unit, r.line, r.statistic, of) for r in several]


def _compared(
    log: Log, line: Line, reports: list[Report], fastest: str, found: re.Match[str]
) -> None:
    """A line of the summary: how many times as long one took as the fastest."""
    last = {report.facts.get("command"): report for report in reports[-_MOST_COMPARED:]}
    slower, fastest_of_all = (
        last.get(name) or last.get(name[1:-1]) for name in (found[2], fastest)
    )
    value = log.number(found[1])
    of_both = _SPREAD_RATIO.fullmatch(found[0])
    if not (slower and fastest_of_all) and of_both:
        # The times of one of them were cut off: the ratio is all that is known.
        for printed, statistic in ((of_both[1], ""), (of_both[2], "stddev")):
            if (figure := log.number(printed)) is not None:
                row = Result("times faster", figure, "1", line.number, statistic, {})
                reports[-1].results.append(row)
    if slower and fastest_of_all and value is not None:
        slower.facts |= {"said_times": value, "said_times_line": line.number}
        if of_both and (spread := log.number(of_both[2])) is not None:
            slower.facts["said_spread"] = spread
        slower.facts |= _compared_with(fastest_of_all)


def _compared_with(fastest: Report) -> dict[str, Any]:
    least = fastest.results[0]
    fastest_s = in_base(least.value, least.unit)[0] / 1e9
    return {"fastest_s": fastest_s, "fastest_line": least.line}


def _times(log: Log, line: Line, text: str) -> list[Result]:
    if _OF_ANOTHER in text:
        return []
    if found := _MEAN.match(text):
        parts = [("time", "mean", found[1], found[2]), ("time", "stddev", found[3], found[4])]
        rest = found.groups()[4:]
    elif found := _ONCE.match(text):
        parts = [("time", "sample", found[1], found[2])]
        rest = found.groups()[2:]
    else:
        return []
    if rest[0]:
        parts += [
            ("user time", "mean", rest[0], rest[1]),
            ("system time", "mean", rest[2], rest[3]),
        ]
    return _results(log, line, *parts)


def _results(log: Log, line: Line, *parts: tuple[str, str, str, str]) -> list[Result]:
    rows = []
    for name, statistic, printed, unit in parts:
        value = log.number(printed)
        if value is not None:
            rows.append(Result(name, value, _UNITS.get(unit, unit), line.number, statistic))
    return rows


def _of_tables(log: Log) -> list[Report]:
    """What --export-csv and --export-markdown write."""
    reports: list[Report] = []
    table_of: list[Report] = []
    unit, columns, before, separator, both = "", list[str](), "", ",", False
    for line in log.printed_lines():
        text = line.text.strip().removeprefix(before)
        if not text:
            continue
        if head := _CSV.search(text):
            # Two lines are too few to tell what a logger writes before all of them.
            at, separator = head.start(), head[1]
            before, columns = text[:at] or before, text[at:].split(separator)
        elif table := _TABLE.match(text):
            unit, both = _UNITS.get(table[1], table[1]), bool(table["both"])
            _related(table_of)
            table_of = []
        elif columns:
            cells = next(csv.reader([text], delimiter=separator), [])
            record = dict(zip(columns, cells, strict=False))
            numbers = {
                name: float(cell)
                for name, item in record.items()
                # A spreadsheet that parts by semicolons has decimal commas.
                if _PLAIN.fullmatch(cell := item if separator == "," else item.replace(",", "."))
            }
            asked = {name for name in columns if name in _STATISTICS}
            if not record.get("stddev"):  # of one run
                asked.discard("stddev")
            if not asked <= numbers.keys():
                columns = []
                continue
            rows = _figures(numbers, line.number, {})
            reports.append(Report(TOOL, rows, line.number, "", {"command": record["command"]}))
        elif unit and not re.match(r"^\|? *:?-", text):
            row = _of_row(log, line, _parted(text) if both else text, unit)
            unit = unit if row else ""
            reports += row
            table_of += row
    _related(table_of)
    return reports


def _of_asciidoc(log: Log) -> list[Report]:
    """What --export-asciidoc writes: each cell in a line of its own, behind a bar or without."""
    reports: list[Report] = []
    table: list[Report] = []
    unit, cells = "", list[Line]()
    for line in log.printed_lines():
        text = line.text.strip().removeprefix("|").strip()
        if head := _HEAD_CELL.fullmatch(text):
            unit, cells = _UNITS.get(head[1], head[1]), []
            _related(table)
            table = []
        elif not unit or not text or _OTHER_HEADS.fullmatch(text):
            continue
        elif text.startswith("===") or "|" in text:
            unit = ""
        else:
            cells.append(Line(line.number, text))
            if len(cells) == len(_CELLS):
                row = _of_row(log, cells[1], "|".join(cell.text for cell in cells), unit)
                reports += row
                table += row
                unit, cells = unit if row else "", []
    _related(table)
    return reports


def _parted(text: str) -> str:
    """A row that has both ends in one cell, as later versions write it."""
    cells = text.strip("| ").split("|")
    low, sign, high = cells[-1].replace("...", "…").replace("..", "…").partition("…")
    return "|".join([*cells[:-1], low, high, " "]) if sign else text


def _of_row(log: Log, line: Line, text: str, unit: str) -> list[Report]:
    cells = [cell.strip(" *") for cell in text.removeprefix("|").removesuffix("|").split("|")]
    if len(cells) < 4:
        return []
    mean, sign, stddev = cells[-4].partition("±")
    parts = [("time", "mean", mean, unit)]
    if sign:
        parts.append(("time", "stddev", stddev, unit))
    parts += [("time", "min", cells[-3], unit), ("time", "max", cells[-2], unit)]
    rows = _results(log, line, *parts)
    facts: dict[str, Any] = {"command": "|".join(cells[:-4]).strip("`= ")}
    if (said := _RELATIVE.fullmatch(cells[-1])) and (times := log.number(said[1])) is not None:
        facts["said_times"], facts["said_times_line"] = times, line.number
        if said[2] and (spread := log.number(said[2].strip(" ±"))) is not None:
            facts["said_spread"] = spread
        facts["is_reference"] = times == 1 and not said[2]
    return [Report(TOOL, rows, line.number, "", facts)] if len(rows) > 2 else []


def _related(table: list[Report]) -> None:
    """The rows of one table are told what their times are relative to: the one row that has 1.00
    without a deviation. Where there is no such row, nothing is known of it."""
    told = [(report, report.facts.pop("is_reference", None)) for report in table]
    references = [report for report, is_reference in told if is_reference]
    for report, is_reference in told:
        if len(references) == 1 and is_reference is False:
            report.facts |= _compared_with(references[0])
        else:
            report.facts.pop("said_times", None)
            report.facts.pop("said_times_line", None)
            report.facts.pop("said_spread", None)

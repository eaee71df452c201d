"""Google Benchmark: its JSON, CSV and console output, with counters, repetitions and errors."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Line, Log, Report, Result
from benchbook.explain.printed_digits import (
    as_float,
    half_digit,
    is_number,
    unmarked,
)
from benchbook.explain.readers.common.json_values import number_at, object_at, objects_at
from benchbook.explain.units import in_base

TOOL = "google-benchmark"
# A row says what it is without its head, too: two times in one unit, and a count. ms stand before
# two spaces in many logs.
_BARE = (
    r" ([nu]s) {2,}[\d.]+ \1 +\d+(?![\d.])"
    r"|BM_(?<!\wBM_)[^\s|]{1,200}+ +[\d.]+ (?:([mnu]s) +[\d.]+ \2|s +[\d.]+ s) +\d+(?![\d.])"
)

_HEAD = late(
    r"^Benchmark +Time(?P<ns>\(ns\))? +CPU(?(ns)\(ns\)) +Iterations(?: +(?P<counters>\S.*))?$"
)
_ROW = late(
    r"^(?P<name>(?!\d+\.\d+ )\S.*?)(?<! ) +(?P<time>-?[\d.,]+(?:e\+\d+)?) (?P<unit>ns|us|ms|s|%) +"
    r"(?P<cpu>-?[\d.,]+(?:e\+\d+)?) (?P<cpu_unit>ns|us|ms|s|%) +"
    r"(?P<iterations>\d+)(?: +(?P<rest>\S.*))?$"
)
# Before 1.0 the unit stood above the columns.
_OLD_ROW = late(
    r"^(?P<name>\S.*?)(?<! ) +(?P<time>-?\d+) +(?P<cpu>-?\d+) +(?P<iterations>\d+)"
    r"(?: +(?P<rest>\S.*))?$"
)
# To 1.4, without their names.
_BARE_RATES = late(
    r"(?:(?P<bytes>\d+(?:\.\d+)?)(?P<of_bytes>[kMGT]?)B/s(?: +|$))?"
    r"(?:(?P<items>\d+(?:\.\d+)?)(?P<of_items>[kMGT]?) items/s(?: |$))?"
)
# One after the other; behind the last of them may stand a label, with signs of equality too.
_COUNTER = late(
    r" *([^\s=,]+)=(?:(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([kMGTPEZYmun]i?|%)?(/s|s)?"
    r"|-?(?:nan|inf)\S*)(?= |$)"
)
_CELL = late(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([kMGTPEZYmun]i?|%)?(/s|s)?")
_AGGREGATE = late(r"_(mean|median|stddev|cv|min|max)$")
_CACHE = late(r"^L(\d) (Unified|Data) (\d+) ?(K|Ki)B \(x(\d+)\)")
_CPUS = late(r"^Run on \((\d+) X (\d+(?:\.\d+)?) MHz CPU s?\)")
_BUILT_FOR_DEBUGGING = late(r"^Build [Tt]ype: *DEBUG\b", re.I)
# CMake, CLion, Visual Studio and Bazel keep what they build for debugging in such folders.
_OF_DEBUGGING = late(
    r"^Running \S*(?:/|\\)(?:cmake-build-debug|[Dd]ebug|\S*-(?:dbg|fastbuild))(?:/|\\)"
)
_LOAD = late(r"^Load Average: (?P<load>\d+(?:\.\d+)?)")
_ERROR = late(r"^(?P<name>\S+) +(?:ERROR OCCURRED|SKIPPED): '(?P<why>.*)'")
_CSV = "name,iterations,real_time,cpu_time"
_OWN_COLUMNS = late(r"(?:[a-z_]+,)+")  # that a program puts before those of the library
_BARE_ROW = late(_BARE)
_TIMES = ("ns", "us", "ms", "s")
_LONGEST_LABEL = 200
_DECIMAL = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_DECIMAL |= {"Z": 1e21, "Y": 1e24, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_BINARY = {"k": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50, "E": 2.0**60}
_BINARY |= {"Z": 2.0**70, "Y": 2.0**80}
MOST_REPETITIONS = 10_000  # that anybody asks for; iterations are more, mostly
MOST_SHARE = 1000.0  # deviation ÷ mean
_RATES = {"bytes_per_second": "B/s", "items_per_second": "items/s"}
_OWN = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
    "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
    "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
    "skip_message", "big_o", "rms", "cpu_coefficient", "real_coefficient",
}  # fmt: skip


def read(log: Log) -> list[Report]:
    """One report for each run of a binary."""
    reports: list[Report] = []
    last: Document | None = None  # an entry by itself, the one above
    for document in log.documents:
        found = _of_document(document)
        if found and last and _is_entry(document.value) and _goes_on(last, document):
            reports[-1].results += found[0].results  # of a list that was cut at both ends
        else:
            reports += found
        last = document if found and _is_entry(document.value) else None
    if log.has("Iterations") or _BARE_ROW.search(log.text):
        reports += _of_console(log)
    if log.has(_CSV):
        reports += _of_csv(log)
    if log.has("Time Old"):
        reports += _of_comparisons(log)
    return sorted(reports, key=lambda report: report.line)


def _of_document(document: Document) -> list[Report]:
    value = document.value
    if isinstance(value, list) and any(map(_is_entry, value)):  # what `jq .benchmarks` leaves
        value = {"": value}
    elif _is_entry(value):
        value = {"": [value]}
    if not isinstance(value, dict):
        return []
    entries = objects_at(value, "benchmarks")
    headless = "benchmarks" not in value and ("" in value or not document.whole)
    if headless:
        entries = [item for item in objects_at({"": [value], **value}, "") if _is_entry(item)]
    records = [entry for entry in entries if isinstance(entry.get("name"), str)]
    known = [record for record in records if "real_time" in record or "error_occurred" in record]
    context = object_at(value, "context")
    if not known or (not context and not any("time_unit" in part for part in known)):
        return []
    report = Report(TOOL, [], document.number, str(context.get("library_version") or "").strip("v"))
    _context(context, report)
    if headless:
        report.notes.append("The head of this JSON is missing: the machine is unknown.")
    for record in known:
        if "time_unit" not in record and not document.whole and "error_occurred" not in record:
            report.notes.append(f"{record['name']} is cut before its unit; it was not read.")
            continue
        _record(record, document.line_of(record), report)
    return [report]


def _goes_on(above: Document, below: Document) -> bool:
    """Whether they are entries of one list: at most a comma is between them."""
    return bool(above.lines) and below.number <= above.lines[-1].number + 1


def _is_entry(value: Any) -> bool:
    """Whether it is whole, and nobody else's: nothing else tells where the head is missing."""
    keys = {"name", "iterations", "real_time", "cpu_time", "time_unit"}
    return isinstance(value, dict) and keys <= value.keys()


def _context(context: dict[str, Any], report: Report) -> None:
    if isinstance(context.get("num_cpus"), int):
        report.facts["cores"] = context["num_cpus"]
    if is_number(context.get("mhz_per_cpu")):
        report.facts["cpu_clock_hz"] = context["mhz_per_cpu"] * 1e6
    if str(context.get("library_build_type", "")).lower() == "debug":
        report.notes.append(_DEBUG)
    if context.get("cpu_scaling_enabled"):
        report.notes.append(_SCALING)
    levels: dict[int, int] = {}
    for cache in objects_at(context, "caches"):
        try:
            size, level = int(cache["size"]), int(cache["level"])
            each = max(1, int(cache["num_sharing"]))
        except (TypeError, KeyError, ValueError, OverflowError):
            continue
        if cache.get("type") in ("Unified", "Data"):
            levels[level] = size * max(1, report.facts.get("cores", each) // each)
    if levels and max(levels) > 1:
        report.facts["llc_bytes"] = levels[max(levels)]


_DEBUG = (
    "The benchmark library says that it was built as DEBUG. So its own calls (pauses, "
    "counters) may be slower. The timed loop is compiled with your code."
)
_SCALING = "The clock of the CPU may have changed while it ran: frequency scaling was enabled."


def _record(record: dict[str, Any], line: int, report: Report) -> None:
    """The times, rates and counters of one entry."""
    name = str(record.get("run_name") or _AGGREGATE.sub("", record["name"]))
    if record.get("error_occurred") or record.get("skipped"):
        why = record.get("error_message") or record.get("skip_message") or "it does not say why"
        report.notes.append(f"{record['name']} has no numbers: {why}.")
        return
    statistic = str(record.get("aggregate_name") or "") if "aggregate_name" in record else ""
    of: dict[str, Any] = {"benchmark": name}
    several = isinstance(record.get("repetitions"), int) and record["repetitions"] > 1
    if isinstance(record.get("repetition_index"), int) and several:
        of["repetition"], statistic = record["repetition_index"], "sample"
    if isinstance(record.get("threads"), int):
        of["threads"] = record["threads"]
    if record.get("label"):
        of["label"] = str(record["label"])[:_LONGEST_LABEL]
    share = record.get("aggregate_unit") == "percentage" or statistic == "cv"
    if isinstance(record.get("iterations"), int):
        of["repetitions" if statistic not in ("", "sample") else "iterations"] = record[
            "iterations"
        ]
    unit = str(record.get("time_unit") or "ns")
    parts = [("real_time", unit), ("cpu_time", unit)]
    parts += [(key, _RATES.get(key, "")) for key in record if key not in _OWN]
    for key, its_unit in parts:
        value = number_at(record, key)
        if share and is_number(value) and value > MOST_SHARE:
            # Versions before 1.8 scale it in their CSV as if it were a time.
            report.notes.append(f"The cv of {name} ({key}) is no share; it was not read.")
            continue
        if value is not None:
            size, printed = (100.0, "%") if share else (1.0, its_unit or "1")
            figure = Result(_title(name, key), value * size, printed, line, statistic, of)
            report.results.append(figure)


def _title(name: str, key: str) -> str:
    return f"{name} {key.removesuffix('_time')} time" if key.endswith("_time") else f"{name} {key}"


def _of_console(log: Log) -> list[Report]:
    reports: list[Report] = []
    facts: dict[str, Any] = {}
    notes: list[str] = []
    columns: list[str] = []
    report: Report | None = None
    in_head = False  # the unit
    for line in log.printed_lines():
        text = unmarked(line.text)
        if text.startswith("|"):  # somebody's table of Markdown
            text = "  ".join(cell.strip(" `*") for cell in text.strip("| ").split("|"))
        head = _HEAD.match(text)
        if head:
            report = Report(TOOL, [], line.number, "", facts, notes)
            reports.append(report)
            facts, notes = {}, []
            names = head["counters"] or ""
            columns = [] if "UserCounters" in names else names.split()
            in_head = bool(head["ns"])
        elif report is not None and text.startswith(("```", "~~~")):
            # What is pasted elsewhere, without its head, is another run.
            report = Report(TOOL, [], line.number, "", dict(report.facts))
            reports.append(report)
        elif report is not None and (row := (_OLD_ROW if in_head else _ROW).match(text)):
            _console_row(log, line, row, columns, report)
        elif report is None and "/iter" in text:
            continue  # of mitata, which has times behind
        elif report is None and _BARE_ROW.search(text) and (row := _ROW.match(text)):
            report = Report(TOOL, [], line.number, "", facts, notes)
            reports.append(report)
            facts, notes, columns = {}, [], []
            in_head = False
            _console_row(log, line, row, columns, report)
        elif report is not None and (error := _ERROR.match(text)):
            report.notes.append(f"{error['name']} has no numbers: {error['why']}.")
        else:
            _console_context(text, line.number, facts, notes)
            if facts and report is not None and text.startswith("Run on ("):
                report = None
    _number_samples(reports)
    _count_repetitions(reports)
    return [report for report in reports if report.results or report.notes]


def _console_context(text: str, number: int, facts: dict[str, Any], notes: list[str]) -> None:
    if cpus := _CPUS.match(text):
        facts |= {"cores": int(cpus[1]), "cpu_clock_hz": float(cpus[2]) * 1e6}
    elif (cache := _CACHE.match(text)) and int(cache[1]) > 1:
        facts["llc_bytes"] = int(cache[3]) * 2**10 * int(cache[5])
    elif text.startswith("***WARNING*** Library was built as DEBUG"):
        notes.append(_DEBUG)
    elif _BUILT_FOR_DEBUGGING.match(text) or _OF_DEBUGGING.match(text):
        facts["debug_line"] = number
    elif load := _LOAD.match(text):
        facts |= {"load_average": float(load["load"]), "load_line": number}
    elif text.startswith("***WARNING*** CPU scaling is enabled"):
        notes.append(_SCALING)


def _console_row(
    log: Log, line: Line, row: re.Match[str], columns: list[str], report: Report
) -> None:
    aggregate = _AGGREGATE.search(row["name"])
    name = row["name"].removesuffix(aggregate[0]) if aggregate else row["name"]
    statistic = aggregate[1] if aggregate else ""
    key = "repetitions" if aggregate else "iterations"
    of: dict[str, Any] = {"benchmark": name, key: int(row["iterations"])}
    if threads := re.search(r"/threads:(\d+)", name):
        of["threads"] = int(threads[1])
    units = row.groupdict("ns")
    parts = [
        ("real_time", row["time"], units.get("unit", "ns")),
        ("cpu_time", row["cpu"], units.get("cpu_unit", "ns")),
    ]
    told = [log.number(printed) for _, printed, _ in parts]
    if told == [0.0, 0.0] and not aggregate:
        of["below_ns"] = max(in_base(half_digit(printed), unit)[0] for _, printed, unit in parts)
    for (title, _, unit), value in zip(parts, told, strict=True):
        if value is not None:
            report.results.append(
                Result(_title(name, title), value, unit, line.number, statistic, of)
            )
    rest = row["rest"] or ""
    counters = _counters(rest)
    cells = rest.split()
    if not counters and (bare := _BARE_RATES.match(rest)):
        both = [("bytes_per_second", bare["bytes"], bare["of_bytes"], "/s")]
        both += [("items_per_second", bare["items"], bare["of_items"], "/s")]
        counters = [item for item in both if item[1]]
    if columns and not counters and len(cells) == len(columns):
        counters = [
            (column, cell[1], cell[2] or "", cell[3] or "")
            for column, item in zip(columns, cells, strict=True)
            if (cell := _CELL.fullmatch(item))
        ]
    if (
        counters
        and counters[-1][0] in _RATES
        and not any(counters[-1][2:])
        and rest.endswith(counters[-1][1])
    ):
        counters = counters[:-1]  # a narrow window wrapped it before its unit
    for counter, number, prefix, per in counters:
        value, unit = _scaled(counter, number, prefix, per)
        report.results.append(
            Result(_title(name, counter), value, unit, line.number, statistic, of)
        )


def _counters(rest: str) -> list[tuple[str, str, str, str]]:
    """The counters at the begin of what stands behind the iterations, without those that are no
    number."""
    counters, at = list[tuple[str, str, str, str]](), 0
    while counter := _COUNTER.match(rest, at):
        at = counter.end()
        if counter[2]:
            counters.append((counter[1], counter[2], counter[3] or "", counter[4] or ""))
    return counters


def _scaled(counter: str, number: str, prefix: str, per: str) -> tuple[float, str]:
    """A counter with its unit; bytes per second have always been in powers of 1024."""
    if prefix == "%":
        return float(number), "%"
    if counter == "bytes_per_second" and prefix[:1] in _BINARY:
        if prefix[0] in "PEZY":  # units that nothing else is printed in
            return float(number) * _BINARY[prefix[0]] / _BINARY["T"], "TiB/s"
        return float(number), f"{prefix[0].upper()}iB/s"
    binary = prefix.endswith("i")
    sizes = _BINARY if binary and prefix[:1] in _BINARY else _DECIMAL
    value = float(number) * (sizes[prefix[0]] if prefix else 1.0)
    return value, _RATES.get(counter, {"/s": "1/s", "s": "s"}.get(per, "1"))


# What its compare.py prints of two runs.
_COMPARED_HEAD = late(r"^Benchmark +Time +CPU +Time Old +Time New +CPU Old +CPU New$")
_COMPARED_ROW = late(
    r"^(?P<name>\S.*?) +(?P<real_change>[+-]\d+\.\d+) +(?P<cpu_change>[+-]\d+\.\d+) +"
    r"(?P<real_old>\d+) +(?P<real_new>\d+) +(?P<cpu_old>\d+) +(?P<cpu_new>\d+)$"
)
_U_TEST = late(
    r"^(?P<name>\S.*?)_pvalue +(?P<real>\d\.\d+) +(?P<cpu>\d\.\d+) +"
    r"U Test, Repetitions: (?P<first>\d+) vs (?P<second>\d+)"
)
SURE = 0.05  # a p value below it


def _of_comparisons(log: Log) -> list[Report]:
    """One report for each table of compare.py: both times of each row, and the test of them where
    it was repeated."""
    reports: list[Report] = []
    tests: list[dict[str, dict[str, Any]]] = []  # of each report, by benchmark and clock
    for line in log.printed_lines():
        text = unmarked(line.text)
        if _COMPARED_HEAD.match(text):
            reports.append(Report(TOOL, [], line.number))
            tests.append({})
        elif reports and (found := _COMPARED_ROW.match(text)):
            for kind in ("real", "cpu"):
                name = f"{found['name']} {kind} time"
                for build in ("old", "new"):
                    of = {"benchmark": f"{found['name']} {kind}", "build": build}
                    value = float(found[f"{kind}_{build}"])
                    reports[-1].results.append(Result(name, value, "1", line.number, build, of))
                change = 100 * float(found[f"{kind}_change"])
                reports[-1].results.append(Result(name, change, "%", line.number, "change", {}))
        elif reports and (found := _U_TEST.match(text)):
            runs = min(int(found["first"]), int(found["second"]))
            for kind in ("real", "cpu"):
                p_value = float(found[kind])
                tested = {"p_value": p_value, "is_same": p_value > SURE, "repetitions": runs}
                tests[-1][f"{found['name']} {kind}"] = tested
    for report, own in zip(reports, tests, strict=True):
        report.results = [
            replace(result, of={**result.of, **own.get(_tested(result), {})})
            for result in report.results
        ]
    return [report for report in reports if report.results]


def _tested(result: Result) -> str:
    """By which name the test of a compared row goes: a mean has that of its repetitions."""
    name, _, clock = str(result.of.get("benchmark")).rpartition(" ")
    return f"{name.removesuffix('_mean').removesuffix('_median')} {clock}"


def _number_samples(reports: list[Report]) -> None:
    """Rows of the same name and statistic are repetitions, in their order."""
    for report in reports:
        counts: dict[str, int] = {}
        for result in report.results:
            if not result.statistic:
                counts[result.name] = counts.get(result.name, 0) + 1
        seen: dict[str, int] = {}
        for index, result in enumerate(report.results):
            if not result.statistic and counts[result.name] > 1:
                number = seen[result.name] = seen.get(result.name, -1) + 1
                of = {**result.of, "repetition": number}
                report.results[index] = replace(result, statistic="sample", of=of)


def _count_repetitions(reports: list[Report]) -> None:
    """What stands beside a mean is its repetitions or, before 1.5, the iterations of all of them:
    the rows above it tell, and where there are none, only few may be repetitions."""
    for report in reports:
        samples = Counter(result.name for result in report.results if result.statistic == "sample")
        for index, result in enumerate(report.results):
            if result.statistic in ("", "sample") or "repetitions" not in result.of:
                continue
            counted = samples[result.name]
            of = {name: value for name, value in result.of.items() if name != "repetitions"}
            if counted or 0 < result.of["repetitions"] <= MOST_REPETITIONS:
                of["repetitions"] = counted or result.of["repetitions"]
            report.results[index] = replace(result, of=of)


def _of_csv(log: Log) -> list[Report]:
    reports: list[Report] = []
    columns, before = list[str](), ""
    for line in log.printed_lines():
        text = line.text.strip().removeprefix(before)
        if (at := text.find(_CSV)) >= 0:
            if _OWN_COLUMNS.fullmatch(text[:at]):
                at = 0
            before, columns = text[:at] or before, text[at:].split(",")
            reports.append(Report(TOOL, [], line.number))
        elif columns and text.startswith('"'):
            record: dict[str, Any] = dict(zip(columns, next(csv.reader([text]), []), strict=False))
            if "name" not in record:
                continue  # cut behind columns of the program's own
            if (
                record.get("time_unit") not in (*_TIMES, None)
                and record.get("error_occurred") != "true"
            ):
                continue  # the growth that was fitted, and how well: BigO and RMS
            numbers = {key: as_float(item) for key, item in record.items() if key not in ("name",)}
            aggregate = _AGGREGATE.search(str(record["name"]))
            typed = {
                **{key: value for key, value in numbers.items() if value is not None},
                "name": record["name"],
                "time_unit": record.get("time_unit") or "ns",
                "error_occurred": record.get("error_occurred") == "true",
                "error_message": record.get("error_message") or "",
            }
            if aggregate:
                typed |= {"aggregate_name": aggregate[1]}
            elif (iterations := numbers.get("iterations") or 0.0) >= 1:
                typed["iterations"] = int(min(iterations, 1e18))
            _record(typed, line.number, reports[-1])
        elif text:
            columns = []
    _number_samples(reports)
    return [report for report in reports if report.results]

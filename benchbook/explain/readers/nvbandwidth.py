"""nvbandwidth: its matrices and sums, as text and as JSON."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Document, Line, Log, Report, Result
from benchbook.explain.printed_digits import printed_lines, unremarked

TOOL = "nvbandwidth"
LOOKS_FOR = "nvbandwidth: `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`, `SUM ..._ce 55.6`"
WORDS = ("nvbandwidth", "memcpy CE", "memcpy SM", "_ce", "_sm")
_VERSION = late(r"^\s*nvbandwidth Version: v?(?P<version>\S+)")
_DEVICE = late(r"^\s*Device \d+: *(?P<name>[^(\s](?:[^(]*[^(\s])?)(?: +\([\w:.]+\))?\s*$")
_RUNNING = late(r"^\s*[Rr]unning (?P<test>\w+?)\.?\s*$")
_TITLE = late(
    r"^\s*(?P<what>\S.*?)(?<!\s)\s+(?:(?:bandwidth|latency) \((?P<unit>GB/s|ns)\)"
    r"|(?<=\(column\) )\((?P<time>ns)\))\s*$"
)
_COLUMNS = late(r"^\s*\d{1,4}(?:\s+\d{1,4})*\s*$")
_ROW = late(r"^\s*(?P<row>\d+)\s+(?P<cells>(?:-?[\d.,]+|N/A)(?:\s+(?:-?[\d.,]+|N/A))*)\s*$")
# What a narrow terminal or a mail put on a line of its own.
_REST = late(r"^\s+(?P<cells>(?:-?\d[\d.,]*|N/A)(?:\s+(?:-?\d[\d.,]*|N/A))*)\s*$")
_TOTAL = late(
    r"^\s*(?P<which>SUM|MIN|MAX|AVG|COEFFICIENT_OF_VARIATION)\s+(?P<test>\w+)\s+"
    r"(?P<value>-?[\d.,]+|-?nan)\s*$"
)
_OWN_TEST = late(r"_(?:ce|sm)(?:_(?:total|read[12]|write[12]))?$")
_WAIVED = late(r"^\s*(?:Waived|WAIVED|ERROR|Error)\b:?\s*(?P<why>.*)$")
_BUFFER = late(r"(?:bufferSize|buffer size)[= :]+(\d+)")
# The title, where the name of the test is missing: some between devices say CPU too, with a word
# more.
_OF_HOST = late(r"memcpy (?:CE|SM) CPU\(row\) (?P<way><->|->|<-) GPU\(column\)")
_WAYS = {"<->": "both", "->": "host to device", "<-": "device to host"}
_STATISTICS = {"SUM": "sum", "MIN": "min", "MAX": "max", "AVG": "mean"}
_IN_JSON = {"sum": "sum", "min": "min", "max": "max", "average": "mean"}

_LEFT_OUT = " \t.[]…"  # what stands for rows that somebody left out

_NEAR_LINES = 3  # from a command to what it prints


@dataclass
class _Run:
    """One start."""

    line: int
    version: str = ""
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    running: str = ""  # the test, as a line of its own says
    test: str = ""  # that, or the title of the table
    unit: str = "GB/s"
    in_table: bool = False
    seen: bool = False
    begins: int = 0  # the first result of the table, which its sum names
    columns: int = 0  # that the table has
    row: int = 0
    filled: int = 0  # cells of that row


def read(log: Log) -> list[Report]:
    """One report for each start, one for each JSON object."""
    runs: list[_Run] = [_Run(1)]
    for line in printed_lines(log):
        if found := _VERSION.search(line.text):
            runs.append(_Run(line.number, found["version"], seen=True))
        else:
            _line(log, runs[-1], line)
    shown = [one for one in log.commands if "nvbandwidth" in one.words[0]]
    for run in runs:
        run.facts |= _asked(shown, run.line)
    texts = [
        Report(TOOL, run.results, run.line if run.version else run.results[0].line, run.version,
               run.facts, run.notes)
        for run in runs if run.results
    ]  # fmt: skip
    return [*texts, *(one for document in log.documents for one in _json(document))]


def _asked(shown: list[Command], line: int) -> dict[str, int]:
    """The buffer that the command right above asks for, in MiB."""
    above = bisect_left(shown, line, key=lambda one: one.number)
    near = above > 0 and line - shown[above - 1].number <= _NEAR_LINES
    words = shown[above - 1].words if near else ()
    for word, value in pairwise(words):
        if word in ("-b", "--bufferSize") and value.isdecimal():
            return {"message_bytes": int(value[:9]) << 20}
    return {}


def _line(log: Log, run: _Run, line: Line) -> None:
    text = line.text
    if found := _RUNNING.search(text):
        run.test = run.running = found["test"]
        run.in_table = False
    elif found := _TITLE.search(text):
        if re.search(r"CPU|GPU|\(row\)|\(column\)|memcpy", text):
            run.unit, run.in_table, run.seen = found["unit"] or found["time"], True, True
            run.test = run.running or found["what"]
            run.columns = run.filled = 0
            run.begins = len(run.results)
    elif (found := _TOTAL.search(text)) and (run.seen or _OWN_TEST.search(found["test"])):
        run.in_table, run.seen = False, True
        value, statistic = log.number(found["value"]), _STATISTICS.get(found["which"])
        if value is not None and statistic:
            of = _of(found["test"])
            if not found["test"].startswith(run.running):
                # Lines between were cut out: which of both tests the cells are of is not known.
                del run.results[run.begins :]
                run.notes.append(f"line {line.number}: the cells above are not of that test")
            for cell in run.results[run.begins :]:
                cell.name = found["test"]
                cell.of = {**of, "row": cell.of["row"], "column": cell.of["column"]}
            unit = "ns" if "latency" in found["test"] else "GB/s"
            run.results.append(Result(found["test"], value, unit, line.number, statistic, of))
        run.test = run.running = ""
        run.begins = len(run.results)
    elif run.in_table and _COLUMNS.match(text) and _counts_on(run, text.split()):
        run.columns += len(text.split())
    elif run.in_table and (found := _ROW.match(unremarked(text))) and _fits(run, found["cells"]):
        run.row, run.filled = int(found["row"]), 0
        _cells(log, run, line, found["cells"])
    elif run.in_table and 0 < run.filled < run.columns and (found := _REST.match(text)):
        _cells(log, run, line, found["cells"])
    elif found := _DEVICE.search(text):
        run.facts.setdefault("device", found["name"])
        run.facts["devices"] = run.facts.get("devices", 0) + 1
    elif (found := _WAIVED.search(text)) and run.seen:
        why = f"line {line.number}: {run.test or 'a test'} was waived or failed {found['why']}"
        run.notes.append(why.strip())
    elif found := _BUFFER.search(text):
        run.facts["buffer_mib"] = int(found[1])
    elif text.strip(_LEFT_OUT):
        run.in_table = False  # rows may follow that another tool printed


def _counts_on(run: _Run, words: list[str]) -> bool:
    """Whether these are numbers of columns, and no row: those count on from 0."""
    return words == [str(run.columns + one) for one in range(len(words))]


def _fits(run: _Run, cells: str) -> bool:
    """Whether the table has as many columns, as far as its head is there."""
    return not run.columns or len(cells.split()) <= run.columns


def _cells(log: Log, run: _Run, line: Line, cells: str) -> None:
    """Cells of the row that was begun."""
    for column, cell in enumerate(cells.split(), run.filled):
        value = log.number(cell) if cell != "N/A" else None
        if value is not None:
            of = _of(run.test) | {"row": run.row, "column": column}
            run.results.append(Result(run.test, value, run.unit, line.number, "sample", of))
        run.filled = column + 1


def _of(test: str) -> dict[str, Any]:
    """What the name of a test tells: it takes pinned memory for the host's side."""
    of: dict[str, Any] = {}
    if found := _OF_HOST.fullmatch(test):
        of["direction"] = _WAYS[found["way"]]
    elif "bidirectional" in test and "host" in test:
        of["direction"] = "both"
    elif test.startswith("host_to"):
        of["direction"] = "host to device"
    elif "to_host" in test:
        of["direction"] = "device to host"
    elif test.startswith("device"):
        of["direction"] = "device to device"
    if "host" in test or found:
        of["host_memory"] = "pinned"
    return of


def _json(document: Document) -> Iterator[Report]:
    value = document.value
    body = value.get("nvbandwidth") if isinstance(value, dict) else None
    cases = body.get("testcases") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(cases, list):
        return
    facts: dict[str, Any] = {}
    devices = body.get("GPU Device list")
    if isinstance(devices, list) and devices:
        name = re.sub(r"^\d+: |\s*\([\w:.]+\)(?::.*)?$", "", str(devices[0]))
        facts |= {"device": name, "devices": len(devices)}
    results: list[Result] = []
    notes: list[str] = []
    for case in cases:
        if isinstance(case, dict):
            results += _case(document.places.get(id(case), document.number), case)
            status = str(case.get("status", "Passed"))
            if status != "Passed":
                notes.append(f"{case.get('name')}: {status} {case.get('error', '')}".strip())
    if isinstance(body.get("error"), str):
        notes.append(f"nvbandwidth says: {body['error']}")
    version = str(body.get("version", "") or body.get("git_version", "")).removeprefix("v")
    if not document.whole:
        notes.append("its JSON is cut: what follows is missing")
    yield Report(TOOL, results, document.number, version, facts, notes)


def _case(number: int, case: dict[str, Any]) -> Iterator[Result]:
    test = str(case.get("name", ""))
    unit = "ns" if "(ns)" in str(case.get("bandwidth_description", "")) else "GB/s"
    matrix = case.get("bandwidth_matrix")
    for row, cells in enumerate(matrix if isinstance(matrix, list) else []):
        for column, cell in enumerate(cells if isinstance(cells, list) else []):
            if (value := _number(cell)) is not None:
                of = _of(test) | {"row": row, "column": column}
                yield Result(test, value, unit, number, "sample", of)
    for key, statistic in _IN_JSON.items():
        if (value := _number(case.get(key))) is not None:
            yield Result(test, value, unit, number, statistic, _of(test))


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None

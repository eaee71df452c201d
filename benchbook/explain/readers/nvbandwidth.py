"""nvbandwidth: its matrices and sums, as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Document, Log, Report, Result
from benchbook.explain.printed_digits import as_float, unremarked
from benchbook.explain.readers.common import command_lines
from benchbook.explain.readers.common.json_values import list_at, object_at, objects_at
from benchbook.explain.readers.common.line_reader import LEFT_OUT, LineReader, Reading, Run

TOOL = "nvbandwidth"
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

_NEAR_LINES = 3  # from a command to what it prints


@dataclass
class _Run(Run):
    """One start."""

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
    runs = _READER.runs(log)
    shown = command_lines.starts_of(log, "nvbandwidth")
    for run in runs:
        run.facts |= _asked(shown, run.line or 1)
    texts = [run.report(TOOL) for run in runs]
    return [*texts, *(report for document in log.documents for report in _json(document))]


def _asked(shown: list[Command], line: int) -> dict[str, int]:
    """The buffer that the command right above asks for, in MiB."""
    command = command_lines.last_above(shown, line)
    is_near = command is not None and line - command.number <= _NEAR_LINES
    size = command_lines.option(command, "-b", "--bufferSize") if is_near else ""
    return {"message_bytes": int(size[:9]) << 20} if size.isdecimal() else {}


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _VERSION.search(text):
        reading.begin(version=found["version"], seen=True)
    elif found := _RUNNING.search(text):
        run.test = run.running = found["test"]
        run.in_table = False
    elif found := _TITLE.search(text):
        if re.search(r"CPU|GPU|\(row\)|\(column\)|memcpy", text):
            run.unit, run.in_table, run.seen = found["unit"] or found["time"], True, True
            run.test = run.running or found["what"]
            run.columns = run.filled = 0
            run.begins = len(run.results)
    elif (found := _TOTAL.search(text)) and (run.seen or _OWN_TEST.search(found["test"])):
        _total(reading, found["test"], _STATISTICS.get(found["which"]), found["value"])
    elif run.in_table and _COLUMNS.match(text) and _counts_on(run, text.split()):
        run.columns += len(text.split())
    elif (
        run.in_table
        and (found := _ROW.match(unremarked(text)))
        and (not run.columns or len(found["cells"].split()) <= run.columns)
    ):
        run.row, run.filled = int(found["row"]), 0
        _cells(reading, found["cells"])
    elif run.in_table and 0 < run.filled < run.columns and (found := _REST.match(text)):
        _cells(reading, found["cells"])
    elif found := _DEVICE.search(text):
        run.facts.setdefault("device", found["name"])
        run.facts["devices"] = run.facts.get("devices", 0) + 1
    elif (found := _WAIVED.search(text)) and run.seen:
        why = f"{run.test or 'a test'} was waived or failed {found['why']}"
        run.notes.append(f"line {reading.line.number}: {why}".strip())
    elif found := _BUFFER.search(text):
        run.facts["buffer_mib"] = int(found[1])
    elif text.strip(LEFT_OUT):
        run.in_table = False  # rows may follow that another tool printed


def _total(reading: Reading[_Run], test: str, statistic: str | None, printed: str) -> None:
    """A sum below a table, which names the test: its cells are of that."""
    run, value = reading.run, reading.number(printed)
    run.in_table, run.seen = False, True
    if value is not None and statistic:
        of = _of(test)
        if not test.startswith(run.running):
            # Lines between were cut out: which of both tests the cells are of is not known.
            del run.results[run.begins :]
            run.notes.append(f"line {reading.line.number}: the cells above are not of that test")
        for cell in run.results[run.begins :]:
            cell.name = test
            cell.of = {**of, "row": cell.of["row"], "column": cell.of["column"]}
        reading.add(test, value, "ns" if "latency" in test else "GB/s", statistic, of)
    run.test = run.running = ""
    run.begins = len(run.results)


def _counts_on(run: _Run, words: list[str]) -> bool:
    """Whether these are numbers of columns, and no row: those count on from 0."""
    return words == [str(run.columns + index) for index in range(len(words))]


def _cells(reading: Reading[_Run], cells: str) -> None:
    """Cells of the row that was begun."""
    run = reading.run
    for column, cell in enumerate(cells.split(), run.filled):
        of = _of(run.test) | {"row": run.row, "column": column}
        reading.add(run.test, None if cell == "N/A" else cell, run.unit, "sample", of)
        run.filled = column + 1


_READER = LineReader(TOOL, _Run, _line, clean=str.rstrip)


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
    body = object_at(document.value, "nvbandwidth")
    if not isinstance(body.get("testcases"), list):
        return
    facts: dict[str, Any] = {}
    if devices := list_at(body, "GPU Device list"):
        name = re.sub(r"^\d+: |\s*\([\w:.]+\)(?::.*)?$", "", str(devices[0]))
        facts |= {"device": name, "devices": len(devices)}
    results: list[Result] = []
    notes: list[str] = []
    for case in objects_at(body, "testcases"):
        results += _case(document.line_of(case), case)
        status = str(case.get("status", "Passed"))
        if status != "Passed":
            notes.append(f"{case.get('name')}: {status} {case.get('error', '')}".strip())
    if isinstance(body.get("error"), str):
        notes.append(f"nvbandwidth says: {body['error']}")
    version = str(body.get("version", "") or body.get("git_version", "")).removeprefix("v")
    if not document.whole:
        notes.append(f"its JSON is cut: {document.cut}")
    yield Report(TOOL, results, document.number, version, facts, notes)


def _case(number: int, case: dict[str, Any]) -> Iterator[Result]:
    test = str(case.get("name", ""))
    unit = "ns" if "(ns)" in str(case.get("bandwidth_description", "")) else "GB/s"
    for row, cells in enumerate(list_at(case, "bandwidth_matrix")):
        for column, cell in enumerate(cells if isinstance(cells, list) else []):
            if (value := as_float(cell)) is not None:
                of = _of(test) | {"row": row, "column": column}
                yield Result(test, value, unit, number, "sample", of)
    for key, statistic in _IN_JSON.items():
        if (value := as_float(case.get(key))) is not None:
            yield Result(test, value, unit, number, statistic, _of(test))

"""Intel MPI Benchmarks, 2.x to 2021.x: tables by message size, of two processes and of many."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import half_digit, printed_lines, unremarked
from benchbook.explain.readers.common.iperf_lines import link_speed
from benchbook.explain.readers.common.table_heads import is_head

TOOL = "imb"
LOOKS_FOR = "Intel MPI Benchmarks: `# Benchmarking PingPong`, `#bytes #repetitions  t[usec]`"
WORDS = ("Benchmarking", "#repetitions", "MPI Benchmark")
_SUITE = late(r"Intel ?\(R\) MPI Benchmarks? (?:Suite )?V?(?P<version>\d[\w.]*)")
_TITLE = late(r"^\s*#\s*Benchmarking\s+(?:Multi-)?(?P<name>\w+)")
_PROCESSES = late(r"#\s*(?:\(\s*)?#processes\s*=\s*(?P<count>\d+)")
_HEAD = late(
    r"^\s*(?:#Benchmarking\s+#procs\s+)?(?:Group\s+)?(?:#bytes\s+)?#repetitions\s+(?:\S*\[usec\]|Mbytes/sec\s+Msg/sec)"
)
# Under the first of these, each row begins with the test and the number of its processes.
_NAMED = late(r"\s*[A-Z]\w{1,40}\s+\d{1,7}\s+(?=\d)")
_COLUMN = late(r"Group|#bytes|#repetitions|t\w*\[usec\]|Mbytes/sec|Msg/sec|overlap\[%\]|defects")
# What a mail put on a line of its own: the last columns of the head, and of each row.
_REST_OF_HEAD = late(rf"^\s*(?:{_COLUMN.pattern})(?:\s+(?:{_COLUMN.pattern}))*\s*$")
_REST = late(r"^\s*-?\d[\d.,]*(?:\s+-?\d[\d.,]*)*\s*$")
_ROW = late(r"^\s*\d{1,18}(?:\s+(?:-?\d[\d.,]*(?:[eE][+-]?\d+)?|-?nan|-?inf))+\s*$")
RATE = "Mbytes/sec"
_OTHERS = {
    RATE: ("throughput", "", "mean"),
    "Msg/sec": ("message rate", "messages/s", "mean"),
    "overlap[%]": ("overlap", "%", ""),
}
_STATISTIC = {"t": "mean", "t_min": "min", "t_max": "max", "t_avg": "mean"}
_SOURCES = ("Specific", "Any")
# Messages that a process sends and receives in one repetition: what its rate counts.
_MOVES = {"PingPong": 1, "PingPing": 1, "Sendrecv": 2, "Exchange": 4}
_MOVES |= {f"{entry}{source}Source": 1 for entry in ("PingPong", "PingPing") for source in _SOURCES}
_COLLECTIVE = late(r"I?(?:Bcast|All|Reduce|Scatter|Gather|Barrier)", re.I)
# Windows of messages: rates without times.
_WINDOWED = ("Uniband", "Biband")
_BOTH_WAYS = ("Sendrecv", "Exchange", "Biband")  # and both are counted
_MIB, _MB = 2**20, 10**6
_EXACT = 0.02  # of what both numbers of a row leave open: the two units are 0.0486 apart


@dataclass
class _Run:
    """One table."""

    line: int
    name: str
    version: str
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[Line, dict[str, str]]] = field(default_factory=list)
    rests: dict[int, int] = field(default_factory=dict)  # by line of a row, that of its rest
    named: bool = False  # whether its rows begin with the test
    ended: bool = False
    first: int = 0  # columns in the first line of a head that was parted, and then of each row
    begun: tuple[Line, list[str]] | None = None  # such a row, as far as it has come
    facts: dict[str, Any] = field(default_factory=dict)


def read(log: Log) -> list[Report]:
    """One report for each table."""
    runs: list[_Run] = []
    version = ""
    typed = {command.number for command in log.commands}
    for line in printed_lines(log):
        text = line.text
        begin = text.lstrip()[:1]
        if begin.isdecimal() or begin == "-":
            if runs and runs[-1].columns and not runs[-1].ended:
                _read_row(runs[-1], line)
        elif not begin:
            continue
        elif found := _SUITE.search(text):
            version = found["version"].rstrip(".,")
        elif (found := _TITLE.search(text)) and "#procs" not in text:
            runs.append(_Run(line.number, found["name"], version))
        elif (found := _PROCESSES.search(text)) and runs:
            runs[-1].facts["processes"] = int(found["count"])
        elif _HEAD.search(text):
            if not runs or runs[-1].rows:
                runs.append(_Run(line.number, "", version))
            runs[-1].columns, runs[-1].named = _COLUMN.findall(text), "#procs" in text
        elif runs and runs[-1].columns:
            run = runs[-1]
            if run.named and not run.ended and (found := _NAMED.match(text)):
                _read_row(run, Line(line.number, text[found.end() :]))
            elif not run.rows and not run.first and _REST_OF_HEAD.match(text):
                run.first = len(run.columns)
                run.columns += _COLUMN.findall(text)
            elif run.rows and (line.number in typed or is_head(text)):
                _end_row(run)
                run.ended = True  # rows may follow that another tool printed
    for run in runs:
        _end_row(run)
    speed = link_speed(log)
    return [_report(log, run, speed) for run in runs if run.rows]


def _read_row(run: _Run, line: Line) -> None:
    row = line.text if _ROW.match(line.text) else unremarked(line.text)
    if run.begun and _REST.match(row):
        whole = [*run.begun[1], *row.split()]
        if len(whole) == len(run.columns):
            run.rests[run.begun[0].number] = line.number
            run.begun = run.begun[0], whole
            _end_row(run)
            return
    _end_row(run)
    if _ROW.match(row):
        words = row.split()
        if run.rows and run.columns[0] == "#bytes" and _begins_anew(run, words[0]):
            run.ended = True  # of a table whose head was cut out of the log
        elif len(words) == len(run.columns):
            run.rows.append((line, dict(zip(run.columns, words, strict=True))))
        elif len(words) == run.first:
            run.begun = line, words


def _begins_anew(run: _Run, size: str) -> bool:
    first, now = _count(run.rows[0][1]["#bytes"]), _count(size)
    return first is not None and now is not None and now <= first


def _end_row(run: _Run) -> None:
    """Take over a row that was begun, with or without its rest."""
    if run.begun:
        line, words = run.begun
        run.rows.append((line, dict(zip(run.columns, words, strict=False))))
        run.begun = None


def _report(log: Log, run: _Run, speed: dict[str, int]) -> Report:
    unit, notes = _unit(log, run)
    results = [item for line, row in run.rows for item in _row(log, run, line, row, unit)]
    facts = dict(run.facts)
    if run.name:
        facts["test"] = run.name
    if run.name in (*_MOVES, *_WINDOWED) or (not run.name and "t[usec]" in run.columns):
        facts["pattern"] = "point to point"
        if facts.get("processes") == 2:
            facts |= speed  # several pairs may have a link each
    elif _COLLECTIVE.match(run.name):
        facts["pattern"] = "collective"
    if "processes" in facts:
        facts["processes_timed"] = facts["processes"]
    if run.name in _BOTH_WAYS:
        facts["direction"] = "both"
    return Report(TOOL, results, run.line, run.version, facts, notes)


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _row(log: Log, run: _Run, line: Line, row: dict[str, str], unit: str) -> Iterator[Result]:
    of: dict[str, Any] = {"repetitions": _count(row["#repetitions"])}
    if "Group" in row:
        of["group"] = _count(row["Group"])
    if "#bytes" in row:
        of["message_bytes"] = _count(row["#bytes"])
    if log.number(row.get("defects", "")):
        of["validated"] = False  # by a build that checks the data
    rest = run.rests.get(line.number, line.number) if run.rests else line.number
    for index, column, name, of_time, statistic in _figures(run.name, tuple(run.columns)):
        value = log.number(row[column]) if column in row else None
        if value is not None:
            number = rest if index >= run.first else line.number
            own = of | _moved(log, run, row) if column == RATE else of
            yield Result(name, value, of_time or unit, number, statistic, own)


@lru_cache(maxsize=64)
def _figures(test: str, columns: tuple[str, ...]) -> list[tuple[int, str, str, str, str]]:
    """Of each column that is a figure: its place, itself, what it is called, its unit ("" for that
    of rates) and statistic."""
    time = f"{test} time" if test else "time"
    found = []
    for index, column in enumerate(columns):
        if column.endswith("[usec]"):
            short = column.removesuffix("[usec]")
            statistic = _STATISTIC.get(short)
            name = time if statistic else f"{time} {short.removeprefix('t_')}"
            found.append((index, column, name, "us", statistic or "mean"))
        elif column in _OTHERS:
            found.append((index, column, *_OTHERS[column]))
    return found


def _time(log: Log, row: dict[str, str]) -> tuple[float, float] | None:
    """The time that a rate is made of, in us, and how exact it is."""
    text = row.get("t_max[usec]") or row.get("t[usec]")
    value = log.number(text) if text else None
    return None if text is None or not value else (value, half_digit(text))


def _moved(log: Log, run: _Run, row: dict[str, str]) -> dict[str, Any]:
    moves, took = _MOVES.get(run.name), _time(log, row)
    size = _count(row.get("#bytes", "")) or 0
    if not moves or not took or not size:
        return {}
    value, error = took
    return {
        "bytes_moved": moves * size,
        "elapsed_s": value / 1e6,
        "elapsed_error_s": error / 1e6,
    }


def _unit(log: Log, run: _Run) -> tuple[str, list[str]]:
    """What its Mbytes are: versions differ, and the times beside them tell."""
    if RATE not in run.columns:
        return "MB/s", []
    moves = _MOVES.get(run.name, 0 if run.name else 1)
    ratios = []
    for _, row in run.rows:
        rate, took = log.number(row.get(RATE, "")), _time(log, row)
        count = log.number(row.get("Msg/sec", ""))
        size = _count(row.get("#bytes", "")) or 0
        if not rate or not size:
            continue
        error = half_digit(row[RATE]) / abs(rate)
        if moves and took and error + took[1] / abs(took[0]) <= _EXACT:
            ratios.append(moves * size / took[0] / rate * 1e6)
        elif count and error + half_digit(row["Msg/sec"]) / abs(count) <= _EXACT:
            ratios.append(size * count / rate)
    if ratios:
        middle = median(ratios)
        if not run.name and 1 < middle < math.inf:  # one message, two or four: the nearest is it
            middle *= min((1, 2, 4), key=lambda item: abs(math.log(item * middle / _MB)))
        unit = "MiB/s" if abs(middle / _MIB - 1) < abs(middle / _MB - 1) else "MB/s"
    else:
        unit = "MB/s" if re.match(r"20\d\d", run.version) else "MiB/s"
    meant = "2^20" if unit == "MiB/s" else "10^6"
    by = "by its own times" if ratios else "as its version has it"
    by = by if ratios or run.version else "as old versions have it (its own is not in the log)"
    return unit, [f"line {run.line}: its Mbytes are {meant} bytes, {by}"]

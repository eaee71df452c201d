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
from benchbook.explain.printed_digits import half_digit, unremarked
from benchbook.explain.readers.common.iperf_lines import link_speed
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "imb"
_SUITE = late(r"Intel ?\(R\) MPI Benchmarks? (?:Suite )?V?(?P<version>\d[\w.]*)")
_TITLE = late(r"^\s*#\s*Benchmarking\s+(?:Multi-)?(?P<name>\w+)")
# A title that somebody wrote himself: `Sendrecv:`.
_TITLE_ALONE = late(
    r"^\s*(?:[#*=■-]+\s*)?(?P<name>PingPong|PingPing|Sendrecv|Exchange|Bcast|Barrier|Allreduce"
    r"|Reduce|Reduce_scatter|Allgatherv?|Alltoallv?|Gatherv?|Scatterv?)\s*[:\uff1a]?\s*$"
)
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
class _Row:
    """A line of a table: its cells by column, and the line of those that were put below it."""

    line: int
    cells: dict[str, str]
    rest: int

    def count(self, column: str) -> int | None:
        """A whole number; None where it is none."""
        text = self.cells.get(column, "")
        return int(text) if text.isdecimal() else None


@dataclass
class _Run(Run):
    """One table."""

    name: str = ""
    columns: list[str] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)
    named: bool = False  # whether its rows begin with the test
    ended: bool = False
    first: int = 0  # columns in the first line of a head that was parted, and then of each row
    begun: tuple[int, list[str]] | None = None  # such a row, as far as it has come

    def finish(self) -> bool:
        """Take over a row that was begun, with or without its rest."""
        if self.begun:
            self.add_row(*self.begun)
        return bool(self.rows)

    def add_row(self, line: int, words: list[str], rest: int | None = None) -> None:
        """Add a row of the table; its last columns may be on another line, `rest`."""
        self.rows.append(_Row(line, dict(zip(self.columns, words, strict=False)), rest or line))
        self.begun = None


def read(log: Log) -> list[Report]:
    """One report for each table."""
    speed = link_speed(log)
    return [_report(log, run, speed) for run in _READER.runs(log)]


def _line(reading: Reading[_Run], text: str) -> None:
    run, begin = reading.run, text.lstrip()[0]
    if begin.isdecimal() or begin == "-":
        if run.columns and not run.ended:
            _read_row(run, reading.line)
    elif found := _SUITE.search(text):
        reading.above["version"] = found["version"].rstrip(".,")
    elif found := (_TITLE.search(text) if "#procs" not in text else None) or _TITLE_ALONE.match(
        text
    ):
        reading.begin(name=found["name"])
    elif (found := _PROCESSES.search(text)) and run.line:
        run.facts["processes"] = int(found["count"])
    elif _HEAD.search(text):
        run = reading.begin() if run.rows or not run.line else run
        run.columns, run.named = _COLUMN.findall(text), "#procs" in text
    elif run.columns:
        if run.named and not run.ended and (found := _NAMED.match(text)):
            _read_row(run, Line(reading.line.number, text[found.end() :]))
        elif not run.rows and not run.first and _REST_OF_HEAD.match(text):
            run.first = len(run.columns)
            run.columns += _COLUMN.findall(text)
        elif run.rows and reading.ends_table(text):
            run.ended = run.finish()  # rows may follow that another tool printed


_READER = LineReader(TOOL, _Run, _line, clean=str.rstrip)


def _read_row(run: _Run, line: Line) -> None:
    row = line.text if _ROW.match(line.text) else unremarked(line.text)
    words = row.split()
    if run.begun and _REST.match(row) and len(run.begun[1]) + len(words) == len(run.columns):
        run.add_row(run.begun[0], [*run.begun[1], *words], line.number)
        return
    run.finish()
    if not _ROW.match(row):
        return
    first = run.rows[0].count("#bytes") if run.rows and run.columns[0] == "#bytes" else None
    if first is not None and words[0].isdecimal() and int(words[0]) <= first:
        run.ended = True  # of a table whose head was cut out of the log
    elif len(words) == len(run.columns):
        run.add_row(line.number, words)
    elif len(words) == run.first:
        run.begun = line.number, words


def _report(log: Log, run: _Run, speed: dict[str, int]) -> Report:
    unit, run.notes = _unit(log, run)
    run.results = [item for row in run.rows for item in _figures_of(log, run, row, unit)]
    facts = run.facts
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
    return run.report(TOOL)


def _figures_of(log: Log, run: _Run, row: _Row, unit: str) -> Iterator[Result]:
    of: dict[str, Any] = {"repetitions": row.count("#repetitions")}
    if "Group" in row.cells:
        of["group"] = row.count("Group")
    if "#bytes" in row.cells:
        of["message_bytes"] = row.count("#bytes")
    if log.number(row.cells.get("defects", "")):
        of["validated"] = False  # by a build that checks the data
    for index, column, name, of_time, statistic in _figures(run.name, tuple(run.columns)):
        value = log.number(row.cells[column]) if column in row.cells else None
        if value is not None:
            line = row.rest if index >= run.first else row.line
            own = of | _moved(log, run, row) if column == RATE else of
            yield Result(name, value, of_time or unit, line, statistic, own)


@lru_cache(maxsize=64)
def _figures(test: str, columns: tuple[str, ...]) -> list[tuple[int, str, str, str, str]]:
    """Of each column that is a figure: its place, itself, what it is called, its unit ("" for that
    of rates) and statistic."""
    time = f"{test} time" if test else "time"
    figures = []
    for index, column in enumerate(columns):
        if column.endswith("[usec]"):
            short = column.removesuffix("[usec]")
            statistic = _STATISTIC.get(short)
            name = time if statistic else f"{time} {short.removeprefix('t_')}"
            figures.append((index, column, name, "us", statistic or "mean"))
        elif column in _OTHERS:
            figures.append((index, column, *_OTHERS[column]))
    return figures


def _time(log: Log, row: _Row) -> tuple[float, float] | None:
    """The time that a rate is made of, in us, and how exact it is."""
    text = row.cells.get("t_max[usec]") or row.cells.get("t[usec]") or ""
    value = log.number(text)
    return (value, half_digit(text)) if value else None


def _moved(log: Log, run: _Run, row: _Row) -> dict[str, Any]:
    moves, took, size = _MOVES.get(run.name), _time(log, row), row.count("#bytes")
    if not moves or not took or not size:
        return {}
    elapsed = {"elapsed_s": took[0] / 1e6, "elapsed_error_s": took[1] / 1e6}
    return {"bytes_moved": moves * size, **elapsed}


def _unit(log: Log, run: _Run) -> tuple[str, list[str]]:
    """What its Mbytes are: versions differ, and the times beside them tell."""
    if RATE not in run.columns:
        return "MB/s", []
    moves = _MOVES.get(run.name, 0 if run.name else 1)
    ratios = []
    for row in run.rows:
        rate, took = log.number(row.cells.get(RATE, "")), _time(log, row)
        count, size = log.number(row.cells.get("Msg/sec", "")), row.count("#bytes")
        if not rate or not size:
            continue
        error = half_digit(row.cells[RATE]) / abs(rate)
        if moves and took and error + took[1] / abs(took[0]) <= _EXACT:
            ratios.append(moves * size / took[0] / rate * 1e6)
        elif count and error + half_digit(row.cells["Msg/sec"]) / abs(count) <= _EXACT:
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

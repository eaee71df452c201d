"""OSU micro-benchmarks, 3.x to 7.x: a time, a rate or several columns for each message size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from benchbook.importers import Line, Log, Report, Result
from benchbook.logs.printed import printed_lines, unremarked, whole
from benchbook.logs.transfers import link_speed

TOOL = "osu"
LOOKS_FOR = "OSU micro-benchmarks: `# OSU MPI Latency Test v5.6`, `# Size          Latency (us)`"
WORDS = ("OSU", "Size", "Avg Latency")
SIGNS = re.compile(r"OSU\b.*\bTest\b|#\s*Size\s+\S|#\s*Avg Latency")
_TITLE = re.compile(
    r"^\s*#?\s*OSU (?P<test>.+?)(?:\s+Test)?\s+v(?P<version>\d[\w.]*)", re.IGNORECASE
)
_PAIRS = re.compile(r"\[\s*pairs:\s*(\d+)\s*\]\s*(?:\[\s*window size:\s*(\d+)\s*\])?")
_TYPE = re.compile(r"# Datatype:\s*(\w+)")
_COLUMN = re.compile(
    r"(?P<name>[A-Z][\w.]*(?: [A-Z][\w.]*)*?) ?\((?P<unit>us|MB/s|%)\)"
    r"|(?P<plain>MB/s|Messages/s|Iterations|Validation|Transferred)"
)
_HEAD = re.compile(r"^\s*#\s*(?P<size>Size\b)?(?P<rest>.*(?:\((?:us|MB/s|%)\)|MB/s).*)$")
_NUMBER = r"-?(?:\d[\d.,]*|nan|inf)"
_ROW = re.compile(rf"^\s*{_NUMBER}(?:\s+(?:{_NUMBER}|Pass|Fail|-+))*\s*$")
_STARTED = re.compile(
    r"^\s*nprocs: (?P<count>\d+), min: (?P<min>\d+) ms, max: (?P<max>\d+) ms, avg: (?P<mean>\d+) ms"
)
_UNITS = {"us": "us", "MB/s": "MB/s", "%": "%"}
_STATISTIC = {"avg": "mean", "min": "min", "max": "max", "p50": "median"}
# Between two processes: what a protocol costs is in the time itself.
_BETWEEN_TWO = re.compile(r"^MPI\S* .*(?:Latency|Bandwidth)$|Message Rate|^MPI\S* \w+$", re.I)
_COLLECTIVE = re.compile(
    r"all-?reduce|all-?gather|all-?to-?all|b(?:road)?cast|reduce|scatter|gather|barrier", re.I
)


@dataclass
class _Column:
    name: str
    unit: str
    statistic: str


@dataclass
class _Run:
    """One table."""

    line: int
    test: str = ""
    version: str = ""
    columns: list[_Column] = field(default_factory=list)
    sized: bool = True
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(log: Log) -> list[Report]:
    """One report for each table; what stands between its rows is passed over."""
    runs: list[_Run] = []
    for line in printed_lines(log):
        text = line.text
        if found := _TITLE.search(text):
            if runs and not runs[-1].results and runs[-1].test == found["test"]:
                continue  # each process may print it
            runs.append(_Run(line.number, found["test"], found["version"]))
        elif (found := _HEAD.search(text)) and (columns := _columns(found["rest"])):
            _headed(runs, line, columns, sized=bool(found["size"]))
        elif not runs:
            continue
        elif found := _PAIRS.search(text):
            runs[-1].facts |= {"pairs": int(found[1]), "processes": 2 * int(found[1])}
            if found[2]:
                runs[-1].facts["window"] = int(found[2])
        elif found := _TYPE.search(text):
            runs[-1].facts["datatype"] = found[1]
        elif found := _STARTED.match(text):
            runs[-1].facts["processes"] = int(found["count"])
            runs[-1].results += [
                Result(f"{_prefix(runs[-1].test)}time", int(found[name]), "ms", line.number, name)
                for name in ("min", "max", "mean")
            ]
        elif runs[-1].columns and _ROW.match(row := unremarked(text)):
            runs[-1].results += _row(log, runs[-1], Line(line.number, row))
    speed = link_speed(log)
    return [_report(run, speed) for run in runs if run.results or run.test]


def _headed(runs: list[_Run], line: Line, columns: list[_Column], *, sized: bool) -> None:
    if not runs or runs[-1].results:
        runs.append(_Run(line.number))
    runs[-1].columns, runs[-1].sized = columns, sized


def _columns(head: str) -> list[_Column]:
    """The columns behind the size, as a head names them."""
    found = []
    for one in _COLUMN.finditer(head):
        if one["plain"]:
            name, unit = {
                "MB/s": ("throughput", "MB/s"),
                "Messages/s": ("message rate", "messages/s"),
            }.get(one["plain"], (one["plain"], ""))
            found.append(_Column(name, unit, "mean" if unit else ""))
            continue
        words = one["name"].split()
        first = words[0].lower()
        statistic = _STATISTIC.get(first) or (first if re.fullmatch(r"p\d+(\.\d+)?", first) else "")
        rest = " ".join(words[1:] if statistic else words)
        name = "throughput" if "andwidth" in rest else rest.replace("Tail Lat", "Latency")
        unit = _UNITS[one["unit"]]
        found.append(_Column(name.lower() or "latency", unit, statistic or "mean"))
    return found


def _row(log: Log, run: _Run, line: Line) -> Iterator[Result]:
    words = line.text.split()
    of: dict[str, Any] = {}
    if run.sized:
        size = log.number(words[0])
        if size is None or not 0 <= size < float("inf") or len(words) < 2:
            return
        of["message_bytes"] = whole(size)
        words = words[1:]
    elif len(words) > len(run.columns):
        return
    read = list(zip(run.columns, words, strict=False))
    for column, word in read:
        if column.name == "Iterations" and word.isdigit():
            of["repetitions"] = int(word)
        elif column.name == "Validation" and word == "Fail":
            run.notes.append(f"line {line.number}: its own check of the data says Fail")
    for column, word in read:
        value = log.number(word) if column.unit else None
        if value is None:
            continue
        name = f"{_prefix(run.test)}{column.name}" if column.unit == "us" else column.name
        yield Result(name, value, column.unit, line.number, column.statistic, of)


@lru_cache
def _prefix(test: str) -> str:
    """`MPI Allreduce ` where the test is one; its own name is not said twice."""
    name = re.sub(r"\s*(?:latency|bandwidth)$", "", test, flags=re.IGNORECASE)
    return f"{name} " if name else "MPI "


def _report(run: _Run, speed: dict[str, int]) -> Report:
    facts = dict(run.facts)
    if run.facts.get("pairs", 1) == 1:
        facts |= speed  # several pairs may have a link each
    if "bi-dir" in run.test.lower():
        facts["direction"] = "both"
    if run.test:
        facts["test"] = run.test
    if not _COLLECTIVE.search(run.test) and (not run.test or _BETWEEN_TWO.search(run.test)):
        facts["pattern"] = "point to point"
    notes = list(run.notes)
    if not run.results:
        notes.append(f"line {run.line}: the table of {run.test} has no rows")
    return Report(TOOL, run.results, run.line, run.version, facts, notes)

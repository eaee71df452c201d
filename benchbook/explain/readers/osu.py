"""OSU micro-benchmarks, 3.x to 7.x: a time, a rate or several columns for each message size."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import unremarked, whole
from benchbook.explain.readers.common.iperf_lines import link_speed
from benchbook.explain.readers.common.line_reader import Run, is_head

TOOL = "osu"
# Version 2 and what was made of it wrote `(Version 2.0)`; some builds know none.
_TITLE = late(
    r"^\s*(?:#\s*)?(?:OSU|OMB-Py) (?P<test>\S.*?)(?<!\s)(?:\s+Test)?\s+"
    r"(?:v|\(Version )(?P<version>\d[\w.]*)"
    r"|^\s*#\s*(?:OSU|OMB-Py) (?P<other>\S.{0,80}?) Test\s*$",
    re.IGNORECASE,
)
_PAIRS = late(r"\[\s*pairs:\s*(\d+)\s*\]\s*(?:\[\s*window size:\s*(\d+)\s*\])?")
_TYPE = late(r"# Datatype:\s*(\w+)")
_COLUMN = late(
    r"(?<![\w.-])(?P<name>[A-Z][\w.-]*(?: [A-Z][\w.-]*)*?) ?\((?P<unit>us|MB/s|%)\)"
    r"|(?P<plain>MB/s|Messages/s|Million ops/s|Iterations|Validation|Transferred|Transmit Size)"
)
_HEAD = late(
    r"^\s*#\s*(?P<first>Size\b(?: \(B\))?|Operation\b)?"
    r"(?P<rest>.*(?:\(us\)|\(%\)|MB/s|(?:ops|Messages)/s).*)$"
)
_UNMARKED = late(r"\s*Size (?P<rest>.*(?:\(us\)|MB/s).*)")
# With many sizes of the window: `#         1       2       4`, and what the table below is of.
_WINDOWS = late(r"^\s*#(?:\s+\d{1,6}){2,}\s*$")
_PROFILE = "# Message Rate Profile"
_NUMBER = r"-?(?:\d[\d.,]*|nan|inf)"
_ROW = late(rf"^\s*{_NUMBER}(?:\s+(?:{_NUMBER}|Pass|Fail|-+))*\s*$")
_NAMED_ROW = late(rf"^\s*[a-z]\w+(?:\s+{_NUMBER})+\s*$")
_STARTED = late(
    r"^\s*nprocs: (?P<count>\d+), min: (?P<min>\d+) ms, max: (?P<max>\d+) ms, avg: (?P<mean>\d+) ms"
)
_PLAIN = {
    "MB/s": ("throughput", "MB/s"),
    "Messages/s": ("message rate", "messages/s"),
    "Million ops/s": ("atomic rate", "Mop/s"),
}
SIZE, OPERATION, TRANSMIT = "Size", "Operation", "Transmit Size"
_PERCENTILE = late(r"p\d+(?:\.\d+)?")
_STATISTIC = {"avg": "mean", "min": "min", "max": "max", "p50": "median"}
# Between two processes: what a protocol costs is in the time itself.
_BETWEEN_TWO = late(r"^MPI\S* .*(?:Latency|Bandwidth)$|Message Rate|^MPI\S* \w+$", re.I)
_COLLECTIVE = late(
    r"all-?reduce|all-?gather|all-?to-?all|b(?:road)?cast|reduce|scatter|gather|barrier|scan", re.I
)


_BUFFERS = late(r"Send Buffer on (\w+) \(\w\) and Receive Buffer on (\w+) \(\w\)")


@dataclass
class _Column:
    name: str
    unit: str
    statistic: str
    of: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Run(Run):
    """One table."""

    test: str = ""
    columns: list[_Column] = field(default_factory=list)
    first: str = ""  # what its rows begin with: a size, an operation, or their first number
    least: float = 0.0  # its first size: they ascend
    told: bool = False  # whether columns tell more than figures


def read(log: Log) -> list[Report]:
    """One report for each table; what stands between its rows is passed over."""
    runs: list[_Run] = []
    typed = {command.number for command in log.commands}
    named = log.has("osu_")
    for line in log.printed_lines():
        text = line.text
        begin = text.lstrip()[:1]
        if begin.isdecimal() or begin == "-":
            if runs and runs[-1].columns:
                if _ROW.match(text):
                    _row(log, runs[-1], line.number, text)
                elif _ROW.match(row := unremarked(text)):
                    _row(log, runs[-1], line.number, row)
        elif begin and not _of_head(runs, line, named=named) and runs:
            run = runs[-1]
            if run.first == OPERATION and run.columns and _NAMED_ROW.match(text):
                _row(log, run, line.number, text)
            elif found := _STARTED.match(text):
                _started(run, line, found)
            elif run.results and (line.number in typed or is_head(text)):
                run.columns = []  # rows may follow that another tool printed
    speed = link_speed(log)
    return [_report(run, speed) for run in runs if run.results or run.test]


def _of_head(runs: list[_Run], line: Line, *, named: bool) -> bool:
    """Whether the line is one of those above a table, which it then begins or tells of; `named`:
    whether the log names a program of the suite."""
    text = line.text
    if ("OSU" in text or "OMB" in text.upper()) and (found := _TITLE.search(text)):
        test = found["test"] or found["other"]
        if not runs or runs[-1].results or runs[-1].test != test:  # each process may print it
            runs.append(_Run(line.number, found["version"] or "", test=test))
    elif "#" not in text:
        # A page may have lost the mark with the title, where it makes headings of both.
        if named and (found := _UNMARKED.fullmatch(text)):
            return _headed(runs, line, found["rest"], SIZE)
        # Of one number for all: some versions print it without the mark.
        if not runs or runs[-1].columns or runs[-1].results or "(us)" not in text:
            return False
        return _headed(runs, line, text, "")
    elif (found := _HEAD.search(text)) and _headed(runs, line, found["rest"], found["first"]):
        return True
    elif not runs:
        return False
    elif (found := _BUFFERS.search(text)) and not {"DEVICE", "MANAGED"}.isdisjoint(found.groups()):
        runs[-1].facts["device_buffers"] = f"{found[1]} to {found[2]}".lower()
    elif _WINDOWS.match(text) and "windows" in runs[-1].facts:
        run = runs[-1]
        is_rate = run.facts["windows"] == _PROFILE
        name, unit = ("message rate", "messages/s") if is_rate else ("throughput", "MB/s")
        sizes = map(int, text.replace("#", " ").split())
        run.columns = [_Column(name, unit, "mean", {"window": size}) for size in sizes]
        run.first = SIZE
    elif text.strip() == _PROFILE and "windows" in runs[-1].facts:
        last = runs[-1]
        facts = last.facts | {"windows": _PROFILE}
        runs.append(_Run(line.number, last.version, test=last.test, facts=facts))
    elif found := _PAIRS.search(text):
        runs[-1].facts |= {"pairs": int(found[1]), "processes": 2 * int(found[1])}
        if found[2]:
            runs[-1].facts["window"] = int(found[2])
        elif "varied" in text:
            runs[-1].facts["windows"] = "varied"
    elif found := _TYPE.search(text):
        runs[-1].facts["datatype"] = found[1]
    else:
        return False
    return True


def _started(run: _Run, line: Line, found: re.Match[str]) -> None:
    """What osu_init prints instead of a table."""
    run.facts["processes"] = int(found["count"])
    run.results += [
        Result(f"{_prefix(run.test)}time", int(found[name]), "ms", line.number, name)
        for name in ("min", "max", "mean")
    ]


def _headed(runs: list[_Run], line: Line, head: str, first: str | None) -> bool:
    """Whether it is the head of a table, which then begins."""
    if not _columns(head, ""):
        return False
    if not runs or runs[-1].results:
        runs.append(_Run(line.number))
    run = runs[-1]
    run.columns = _columns(head, _prefix(run.test))
    run.told = not all(column.unit for column in run.columns)
    run.first = SIZE if first and first.startswith(SIZE) else first or ""
    return True


@lru_cache(maxsize=64)
def _columns(head: str, prefix: str) -> list[_Column]:
    """The columns behind the first, as a head names them; none where it says anything else."""
    if _COLUMN.sub("", head).strip():
        return []
    # Where it has extremes, they are those of the processes' means, and percentiles of iterations.
    tail = "iteration latency" if "Max Lat" in head else "Latency"
    found = []
    for match in _COLUMN.finditer(head):
        if match["plain"]:
            name, unit = _PLAIN.get(match["plain"], (match["plain"], ""))
            found.append(_Column(name, unit, "mean" if unit else ""))
            continue
        words = match["name"].split()
        first = words[0].lower()
        statistic = _STATISTIC.get(first) or (first if _PERCENTILE.fullmatch(first) else "")
        rest = " ".join(words[1:] if statistic else words)
        name = "throughput" if "andwidth" in rest else rest.replace("Tail Lat", tail)
        name = name.replace("Tail BW", "iteration throughput").lower() or "latency"
        name = f"{prefix}{name}" if match["unit"] == "us" else name
        found.append(_Column(name, match["unit"], statistic or "mean"))
    return found


def _row(log: Log, run: _Run, number: int, text: str) -> None:
    words, columns = text.split(), run.columns
    of: dict[str, Any] = {}
    if run.first:
        if not 2 <= len(words) <= len(columns) + 1:
            return
        first = words.pop(0)
        if run.first == SIZE:
            size = log.number(first)
            if size is None or not 0 <= size < float("inf"):
                return
            if run.results and size <= run.least:
                run.columns = []  # of a table whose head was cut out of the log
                run.notes.append(f"line {number}: a table begins whose head is missing")
                return
            run.least = run.least if run.results else size
            of["message_bytes"] = whole(size)
        else:
            of["operation"] = first
    elif len(words) > len(columns):
        return
    if len(words) < len(columns) and columns[-1].name == TRANSMIT:
        return  # cut before it says of how many bytes it is
    if run.told:
        _told(run, words, of)
    for column, word in zip(columns, words, strict=False):
        value = log.number(word) if column.unit else None
        if value is not None:
            own = of | column.of if column.of else of
            figure = Result(column.name, value, column.unit, number, column.statistic, own)
            run.results.append(figure)


def _told(run: _Run, words: list[str], of: dict[str, Any]) -> None:
    """What columns say that are no figures."""
    for column, word in zip(run.columns, words, strict=False):
        if column.name == "Iterations" and word.isdecimal():
            of["repetitions"] = int(word)
        elif column.name == TRANSMIT and word.isdecimal():
            # Of a derived datatype, which leaves some of it out.
            of |= {"message_bytes": int(word), "span_bytes": of.get("message_bytes")}
        elif column.name == "Validation" and word == "Fail":
            of["validated"] = False


@lru_cache
def _prefix(test: str) -> str:
    """`MPI Allreduce ` where the test is one; its own name is not said twice."""
    name = re.sub(r"\s*(?:latency|bandwidth)$", "", test, flags=re.IGNORECASE)
    return f"{name} " if name else "MPI "


def _report(run: _Run, speed: dict[str, int]) -> Report:
    facts = run.facts
    facts.pop("windows", None)
    if facts.get("pairs", 1) == 1:
        facts |= speed  # several pairs may have a link each
    if "bi-dir" in run.test.lower():
        facts["direction"] = "both"
    if run.test:
        facts["test"] = run.test
    if _COLLECTIVE.search(run.test):
        facts["pattern"] = "collective"
    elif not run.test or _BETWEEN_TWO.search(run.test):
        facts["pattern"] = "point to point"
    if not run.results:
        run.notes.append(f"line {run.line}: the table of {run.test} has no rows")
    return run.report(TOOL)

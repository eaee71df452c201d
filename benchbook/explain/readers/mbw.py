"""mbw: 1.0 to 2.x, all lines or averages only, several threads or processes, sums of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import half_digit, is_number, printed_lines
from benchbook.explain.rules.common.relations import Printed, printed, product

TOOL = "mbw"
LOOKS_FOR = "mbw: lines 'Method: MEMCPY  Elapsed: …  MiB: …  Copy: … MiB/s'"
WORDS = ("Elapsed:", "Total AVG:")

_NUMBER = r"-?[\d.,]*\d(?:[eE][+-]?\d+)?|-?inf|-?nan"
_LINE = late(
    rf"(?:(?<!\d)(?P<which>\d+|AVG)\s+)?Method:\s*(?P<method>\w+)\s+Elapsed:\s*(?P<elapsed>{_NUMBER})\s+"
    rf"(?P<mega>Mi?B):\s*(?P<size>{_NUMBER})\s+Copy:\s*(?P<rate>{_NUMBER})\s+(?P<unit>Mi?B)/s?"
)
_NUMBERS = ("elapsed", "size", "rate")
_BEGUN = late(r"(?:^|\s)Method:\s*\w+\s+Elapsed:")
_SUM = late(rf"\b(MEMCPY|DUMB|MCBLOCK) Total AVG:\s*({_NUMBER})\s*(Mi?B)/s")
# Of a version with threads of its own: what they have together.
_TOTAL = late(
    rf"TOT\s+Method:\s*(\w+)\s+Elapsed min/max/avg/tot:\s*\S+\s+Size:\s*(?:{_NUMBER})\s+"
    rf"BW:\s*({_NUMBER})\s*(Mi?B)/s"
)
_WILL_START = late(r"Will start (\d{1,5}) threads")
_MEMORY = late(r"Long uses (\d+) bytes\. Allocating 2\*(\d+) elements = (\d+) bytes of memory")
_BLOCK = late(r"Using (\d+) bytes as blocks for memcpy block copy")
_RUNS = late(r"Doing (\d+) runs per test")
_CORES = late(r"Starting test on (\d+) cores")
_WORKERS = late(r"Using (\d+) (?:worker )?threads")
_TELLS = late("Long uses|Using|Doing|Starting")  # what all of these have one of
_VERSION = late(
    r"\bmbw(?: memory benchmark v|[-_/ ]v?|\s+\(|\S*/\w+ )([12]\.\d+(?:\.\d+)?)(?! ?[GM]i?B)"
)
_SHORT = 500  # characters of a line that names a program and its version
_MOST_FOLDS = 3  # a line is 84 columns wide with its tabs: terminals fold it
_BLOCKS = {"MCBLOCK", "MEMCPYBLOCK"}
_HEAD = ("bytes of a long", "elements", "bytes of memory")  # what its first line counts
_HALF_MIB = 0.5  # some print whole ones
_CLOCK_NS = 1000  # gettimeofday
_DEFAULT_BLOCK_BYTES = 262144


@dataclass
class _Run:
    line: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[Result] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: set[tuple[str, str]] = field(default_factory=set)  # methods whose average was seen
    sizes: dict[str, Printed] = field(default_factory=dict)  # as its head tells them


def read(log: Log) -> list[Report]:
    """One report for each start of mbw: methods come in order, each once."""
    reports: list[Report] = []
    calls = [one for one in log.commands if "mbw" in one.words[0]]
    run, version = _Run(), ""
    started = _WILL_START.search(log.text) if log.has("Will start ") else None
    together = {"processes": int(started[1])} if started else {}
    for line in _unfolded(list(printed_lines(log))):
        text = line.text.strip()
        if "mbw" in text and len(text) < _SHORT and (said := _VERSION.search(text)):
            version = said[1]
        if _TELLS.search(text) and (head := _head(text)):
            if run.rows:
                _finish(calls, run, version, reports)
                run = _Run()
            run.line = run.line or line.number
            run.facts |= head
            _keep_sizes(line, text, run)
        elif "Elapsed:" in text and (found := _LINE.search(text)):
            if _is_new(found, run):
                _finish(calls, run, version, reports)
                run = _Run()
            numbers = [one for name in _NUMBERS if (one := log.number(found[name])) is not None]
            if len(numbers) == len(_NUMBERS):
                _add(line, found, numbers, run)
        elif "TOT" in text and (found := _TOTAL.search(text)):
            _add_sum(log, line, found, run, together)
        elif "Method:" in text and _BEGUN.search(text):
            run.notes.append(f"Line {line.number} is cut; it was not read.")
        elif "Total AVG" in text and (found := _SUM.search(text)):
            _add_sum(log, line, found, run, {})
    _finish(calls, run, version, reports)
    _note_mixed(reports)
    return reports


def _unfolded(lines: list[Line]) -> Iterator[Line]:
    """The lines, whole again where a narrow terminal folded one of mbw into several."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        begun = "Elapsed:" in line.text and len(line.text) < _SHORT and _BEGUN.search(line.text)
        if begun and not _LINE.search(line.text):
            for count in range(1, _MOST_FOLDS + 1):
                own = [line.text, *(part.text for part in lines[at : at + count])]
                if "Method:" in own[-1]:
                    break
                if len(own) > count and (whole := _fitting(own)):
                    line = Line(line.number, whole)
                    at += count
                    break
        yield line


def _fitting(parts: list[str]) -> str:
    """The parts as one line of mbw; spaces at the end of a part may be lost. Empty if they are
    none."""
    return next(
        (text for glue in ("", " ") if _LINE.fullmatch(text := glue.join(parts).strip())), ""
    )


def _note_mixed(reports: list[Report]) -> None:
    """A run that begins in its middle, behind others: several printed at the same time."""
    if any(report.results[0].of.get("repetition", 0) > 0 for report in reports[1:]):
        for report in reports:
            report.facts["mixed"] = True
        reports[0].notes.append("The lines of several mbw that ran at once are mixed.")


def _head(text: str) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if found := _MEMORY.search(text):
        head |= {"array_bytes": int(found[3]) // 2, "working_set_bytes": int(found[3])}
    if found := _BLOCK.search(text):
        head["asked_block_bytes"] = int(found[1])
    if found := _RUNS.search(text):
        head["asked_runs"] = int(found[1])
    if found := _CORES.search(text):
        head["processes"] = int(found[1])
    if found := _WORKERS.search(text):
        head["threads"] = int(found[1])
    return head


def _keep_sizes(line: Line, text: str, run: _Run) -> None:
    if found := _MEMORY.search(text):
        for name, digits in zip(_HEAD, found.groups(), strict=True):
            run.sizes[name] = printed(name, float(digits), digits, line.number)


def _twice(run: _Run) -> list[Twice]:
    """The bytes of its head by their number, and by the MiB that each of its lines has."""
    size, elements, every = _HEAD
    told = product(run.sizes, every, [size, elements], count=2, unit="bytes")
    if every in run.sizes:
        lines: dict[float, int] = {}
        for row in run.rows:
            if row.statistic != "sum":
                lines.setdefault(row.of["array_bytes"] / 2**20, row.line)
        for mib, line in lines.items():
            own = run.sizes | {"MiB": Printed("MiB", mib, _HALF_MIB, line)}
            told += product(own, "MiB", [every], scale=0.5 / 2**20, unit="MiB")
    return told


def _is_new(found: re.Match[str], run: _Run) -> bool:
    """A line that cannot follow the others of the same start."""
    key = (found["method"], found["which"] or "AVG")
    return key in run.done


def _add(line: Line, found: re.Match[str], numbers: list[float], run: _Run) -> None:
    which, method, printed = found.group("which", "method", "elapsed")
    elapsed, size, rate = numbers
    run.line = run.line or line.number
    which = which or "AVG"
    of = _sizes(size) | {"elapsed_s": elapsed, "elapsed_error_s": half_digit(printed)}
    if which != "AVG":
        of["repetition"] = int(which)
    if method in _BLOCKS:
        of["block_bytes"] = run.facts.get("asked_block_bytes")
    run.done.add((method, which))
    # What mbw 1.0 calls MB is 2^20 bytes, as what the later ones call MiB.
    statistic = "mean" if which == "AVG" else "sample"
    run.rows.append(Result(method, rate, "MiB/s", line.number, statistic, of))


def _sizes(mib: float) -> dict[str, Any]:
    """What a line says of them."""
    size = round(mib * 2**20) if is_number(mib) else 0
    return {"array_bytes": size, "working_set_bytes": 2 * size, "bytes_moved": size}


def _add_sum(
    log: Log, line: Line, found: re.Match[str], run: _Run, together: dict[str, int]
) -> None:
    """A line of what starts an mbw on each core, or threads, and adds their averages."""
    value = log.number(found[2])
    if value is None:
        return
    run.line = run.line or line.number
    of = {"summed_of": "mean", **together} | {
        name: run.facts[name] for name in ("processes",) if name in run.facts
    }
    run.rows.append(Result(found[1], value, "MiB/s", line.number, "sum", of))


def _finish(calls: list[Command], run: _Run, version: str, reports: list[Report]) -> None:
    if not run.rows:
        return
    facts = dict(run.facts)
    if "array_bytes" in facts and "processes" not in facts:
        facts.setdefault("threads", 1)
    if not version.startswith("2"):
        facts["clock_resolution_ns"] = _CLOCK_NS
    asked = facts.pop("asked_runs", None)
    block = facts.pop("asked_block_bytes", None) or _block_asked(calls, run)
    counts: dict[str, int] = {}
    for row in run.rows:
        counts[row.name] = counts.get(row.name, 0) + (row.statistic == "sample")
    cut = _cut(run.rows)
    results = [
        _completed(row, block, asked or (0 if row.name in cut else counts[row.name]) or None)
        for row in run.rows
    ]
    reports.append(Report(TOOL, results, run.line, version, facts, run.notes, _twice(run)))


def _cut(rows: list[Result]) -> set[str]:
    """Methods of which lines are missing above the average: it is further away than they are from
    each other."""
    lines: dict[str, list[int]] = {}
    for row in rows:
        lines.setdefault(row.name, []).append(row.line)
    return {
        name
        for name, own in lines.items()
        if len(own) > 2 and own[-1] - own[-2] > max(two - one for one, two in pairwise(own[:-1]))
    }


def _block_asked(calls: list[Command], run: _Run) -> int | None:
    """The block that the last command line before the run asks for."""
    at = bisect_left(calls, run.rows[0].line, key=lambda one: one.number)
    words = calls[at - 1].words if at else ()
    for word, value in zip(words, [*words[1:], ""], strict=False):
        if word == "-b" and value.isdecimal():
            return int(value)
        if word.startswith("-b") and word[2:].isdecimal():
            return int(word[2:])
    return _DEFAULT_BLOCK_BYTES if words else None


def _completed(row: Result, block: int | None, runs: int | None) -> Result:
    of: Mapping[str, Any] = row.of
    if row.statistic == "mean" and runs:
        of = {**of, "repetitions": runs}
    if row.name in _BLOCKS and row.statistic != "sum" and not of.get("block_bytes"):
        of = {**of, "block_bytes": block}
    if of is row.of:
        return row
    return Result(row.name, row.value, row.unit, row.line, row.statistic, of)

"""mbw: 1.0 to 2.x, all lines or averages only, several threads or processes, sums of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import half_digit, is_number
from benchbook.explain.readers.common import command_lines
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "mbw"

_NUMBER = r"-?[\d.,]*\d(?:[eE][+-]?\d+)?|-?inf|-?nan"
_LINE = late(
    rf"(?:(?<!\d)(?P<which>\d+|AVG)\s+)?Method:\s*(?P<method>\w+)\s+Elapsed:\s*(?P<elapsed>{_NUMBER})\s+"
    rf"(?P<mega>Mi?B):\s*(?P<size>{_NUMBER})\s+Copy:\s*(?P<rate>{_NUMBER})\s+(?P<unit>Mi?B)/s?"
)
_BEGUN = late(r"(?:^|\s)Method:\s*\w+\s+Elapsed:")
_SUM = late(rf"\b(MEMCPY|DUMB|MCBLOCK) Total AVG:\s*({_NUMBER})\s*(Mi?B)/s")
# Of a version with threads of its own: what they have together.
_TOTAL = late(
    rf"TOT\s+Method:\s*(\w+)\s+Elapsed min/max/avg/tot:\s*\S+\s+Size:\s*(?:{_NUMBER})\s+"
    rf"BW:\s*({_NUMBER})\s*(Mi?B)/s"
)
_WILL_START = late(r"Will start (\d{1,5}) threads")
_MEMORY = late(r"Long uses (\d+) bytes\. Allocating 2\*(\d+) elements = (\d+) bytes of memory")
_HEAD_FACTS = {
    "asked_block_bytes": late(r"Using (\d+) bytes as blocks for memcpy block copy"),
    "asked_runs": late(r"Doing (\d+) runs per test"),
    "processes": late(r"Starting test on (\d+) cores"),
    "threads": late(r"Using (\d+) (?:worker )?threads"),
}
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
class _Run(Run):
    """One start of mbw: methods come in order, each once."""

    done: set[tuple[str, str]] = field(default_factory=set)  # methods whose average was seen
    sizes: dict[str, Printed] = field(default_factory=dict)  # as its head tells them
    together: dict[str, int] = field(default_factory=dict)  # processes, of what starts several


def read(log: Log) -> list[Report]:
    """One report for each start."""
    calls = command_lines.starts_of(log, "mbw")
    runs = _READER.runs(log)
    for run in runs:
        _complete(run, calls)
    # A run that begins in its middle, behind others: several printed at the same time.
    if any(run.results[0].of.get("repetition", 0) > 0 for run in runs[1:]):
        for run in runs:
            run.facts["mixed"] = True
        runs[0].notes.append("The lines of several mbw that ran at once are mixed.")
    return [run.report(TOOL) for run in runs]


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "mbw" in text and len(text) < _SHORT and (version := _VERSION.search(text)):
        run.version = version[1]
    if started := _WILL_START.search(text):
        run.together = run.together or {"processes": int(started[1])}
    if _TELLS.search(text) and (head := _head(text)):
        run = _next(reading) if run.results else run
        run.line = run.line or reading.line.number
        run.facts |= head
        if found := _MEMORY.search(text):
            for name, digits in zip(_HEAD, found.groups(), strict=True):
                run.sizes[name] = printed(name, float(digits), digits, reading.line.number)
    elif "Elapsed:" in text and (found := _LINE.search(text)):
        _add(reading, found)
    elif "TOT" in text and (found := _TOTAL.search(text)):
        _add_sum(reading, found, run.together)
    elif "Method:" in text and _BEGUN.search(text):
        run.notes.append(f"Line {reading.line.number} is cut; it was not read.")
    elif "Total AVG" in text and (found := _SUM.search(text)):
        _add_sum(reading, found, {})


def _next(reading: Reading[_Run]) -> _Run:
    """Another run, of the same program."""
    run = reading.begin(version=reading.run.version, together=reading.run.together)
    run.line = 0
    return run


def _unfolded(log: Log) -> Iterator[Line]:
    """The lines, whole again where a narrow terminal folded one of mbw into several."""
    lines, at = list(log.printed_lines()), 0
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


def _head(text: str) -> dict[str, Any]:
    head: dict[str, Any] = {
        name: int(found[1])
        for name, pattern in _HEAD_FACTS.items()
        if (found := pattern.search(text))
    }
    if found := _MEMORY.search(text):
        head |= {"array_bytes": int(found[3]) // 2, "working_set_bytes": int(found[3])}
    return head


def _twice(run: _Run) -> list[Twice]:
    """The bytes of its head by their number, and by the MiB that each of its lines has."""
    size, elements, every = _HEAD
    twice = product(run.sizes, every, [size, elements], count=2, unit="bytes")
    if every in run.sizes:
        lines: dict[float, int] = {}
        for row in run.results:
            if row.statistic != "sum":
                lines.setdefault(row.of["array_bytes"] / 2**20, row.line)
        for mib, line in lines.items():
            own = run.sizes | {"MiB": Printed("MiB", mib, _HALF_MIB, line)}
            twice += product(own, "MiB", [every], scale=0.5 / 2**20, unit="MiB")
    return twice


def _add(reading: Reading[_Run], found: re.Match[str]) -> None:
    """A sample or the mean of a method; one that the run has already is of the next run."""
    which, method = found["which"] or "AVG", found["method"]
    run = _next(reading) if (method, which) in reading.run.done else reading.run
    elapsed, size = reading.number(found["elapsed"]), reading.number(found["size"])
    if elapsed is None or size is None:
        return
    moved = round(size * 2**20) if is_number(size) else 0
    of: dict[str, Any] = {"elapsed_s": elapsed, "elapsed_error_s": half_digit(found["elapsed"])}
    of |= {"array_bytes": moved, "working_set_bytes": 2 * moved, "bytes_moved": moved}
    if which != "AVG":
        of["repetition"] = int(which)
    if method in _BLOCKS:
        of["block_bytes"] = run.facts.get("asked_block_bytes")
    # What mbw 1.0 calls MB is 2^20 bytes, as what the later ones call MiB.
    if reading.add(method, found["rate"], "MiB/s", "mean" if which == "AVG" else "sample", of):
        run.done.add((method, which))


def _add_sum(reading: Reading[_Run], found: re.Match[str], together: dict[str, int]) -> None:
    """A line of what starts an mbw on each core, or threads, and adds their averages."""
    of = {"summed_of": "mean", **together}
    if "processes" in reading.run.facts:
        of["processes"] = reading.run.facts["processes"]
    reading.add(found[1], found[2], "MiB/s", "sum", of)


def _complete(run: _Run, calls: list[Command]) -> None:
    """Give means the number of their repetitions, and copies in blocks the size of these."""
    facts = run.facts
    if "array_bytes" in facts and "processes" not in facts:
        facts.setdefault("threads", 1)
    if not run.version.startswith("2"):
        facts["usual_clock_ns"] = _CLOCK_NS
    runs = facts.pop("asked_runs", None)
    block = facts.pop("asked_block_bytes", None) or _block_asked(calls, run)
    samples = Counter(row.name for row in run.results if row.statistic == "sample")
    cut = _cut(run.results)
    run.twice = _twice(run)
    for at, row in enumerate(run.results):
        own: dict[str, Any] = {}
        count = runs or (0 if row.name in cut else samples[row.name])
        if row.statistic == "mean" and count:
            own["repetitions"] = count
        if row.name in _BLOCKS and row.statistic != "sum" and not row.of.get("block_bytes"):
            own["block_bytes"] = block
        if own:
            run.results[at] = replace(row, of={**row.of, **own})


def _cut(rows: list[Result]) -> set[str]:
    """Methods of which lines are missing above the average: it is further away than they are from
    each other."""
    lines: dict[str, list[int]] = {}
    for row in rows:
        lines.setdefault(row.name, []).append(row.line)
    return {
        name
        for name, own in lines.items()
        if len(own) > 2 and own[-1] - own[-2] > max(two - part for part, two in pairwise(own[:-1]))
    }


def _block_asked(calls: list[Command], run: _Run) -> int | None:
    """The block that the last command line before the run asks for."""
    command = command_lines.last_above(calls, run.results[0].line)
    size = command_lines.option(command, "-b")
    return int(size) if size.isdecimal() else _DEFAULT_BLOCK_BYTES if command else None


_READER = LineReader(TOOL, _Run, _line, lines=_unfolded)

"""sysbench memory (and cpu, threads, mutex as far as they print the same): 0.4, 0.5 and 1.x."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import LONGEST, half_digit, is_number, printed_lines
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "sysbench"
LOOKS_FOR = "sysbench: 'Running the test with following options', '… MiB transferred (… MiB/sec)'"
WORDS = (
    *("sysbench ", "Running memory speed test", "Doing memory operations speed test"),
    *("B transferred (", "per-request statistics:", "events per second:", "Threads fairness:"),
)

_NUMBER = r"\d[\d.,]*"
_BANNER = late(r"^sysbench v?(\d[\w.-]*)")
_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = late(r"(\d+)\s*([KMGT]?)(?:i?B)?")
# Who compares several writes their names before them.
_BEFORE = r"(?:^|(?<=:)|(?<=: )|(?<=  )|(?<=\t))"
_TRANSFERRED = late(rf"{_BEFORE}({_NUMBER}) Mi?B transferred \(({_NUMBER}) Mi?B/sec\)")
_OPERATIONS = late(
    rf"^(?:Total operations|Operations performed): ({_NUMBER}) "
    rf"\( *({_NUMBER}) (?:per second|ops/sec)\)"
)
_COUNT = late(r"^total number of events: +(\d{1,18})$")
_EVENTS = late(rf"^(?:events per second|events/s \(eps\)): *({_NUMBER})")
_FILES = late(rf"^(read|written), MiB/s: +({_NUMBER})$")
_INTERVAL = late(rf"^\[ *({_NUMBER})s \] ({_NUMBER}) Mi?B/sec")
_LATENCY = late(
    rf"^(min|avg|max|sum|(?:approx\. +)?\d+(?:th|st|nd|rd)? percentile): +({_NUMBER})(ms)?$"
)
_TOTAL_TIME = late(rf"^(?:total time|time elapsed): +({_NUMBER})s?$")
# What it prints beside its results, and computes of the same counts.
_COUNTED = late(
    rf"^(?P<name>Number of threads|total number of events|events \(avg/stddev\)"
    rf"|execution time \(avg/stddev\)|total time taken by event execution|avg|sum"
    rf"|(?:Total operations|Operations performed)(?=: [\d.,]+ \()): +(?P<value>{_NUMBER})"
    rf"(?:ms|s)?(?:$|[ /])"
)
_STATISTICS = {"avg": "mean"}
_CLASS_WIDTH = 0.019  # its histogram has 1024 classes from 1 us to 100 s
_HEADS = (
    "Test execution summary:",
    "General statistics:",
    "per-request statistics:",
    "response time:",
    "Throughput:",
    "Latency (ms):",
)
_SUMMARIES = ("Test execution summary:", "General statistics:")  # above all figures of times
# What can only stand above the figures of a run.
_BEGINS = ("Running the test with", "Running memory speed test", "Doing memory operations speed")
_STARTING_S = 0.002  # the rate is over the time with the start of the threads, the total without


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _SIZES[found[2]] if found else None


# what a line begins with -> the fact that it tells, how to read it
_FACTS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Number of threads:": ("threads", int),
    "block size:": ("block", _bytes),
    "Memory block size:": ("block", _bytes),
    "total size:": ("total_bytes", _bytes),
    "Memory transfer size:": ("total_bytes", _bytes),
    "operation:": ("operation", str),
    "Memory operations type:": ("operation", str),
    "scope:": ("scope", str),
    "Memory scope type:": ("scope", str),
}


_OPTIONS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--threads": ("threads", int),
    "--num-threads": ("threads", int),
    "--memory-block-size": ("block", _bytes),
    "--memory-oper": ("operation", str),
    "--memory-scope": ("scope", str),
}
_DEFAULT_BLOCK_BYTES = 1024
_LASTING = ("test", "block", "threads", "operation", "scope")
_COMMON_ROWS = 2  # without a rate: so few may be of anything
_NEAR = 3  # lines from a command to its banner


@dataclass
class _Run:
    line: int = 0
    version: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[Result] = field(default_factory=list)
    named: set[str] = field(default_factory=set)  # what the rows are called, with the statistic
    notes: list[str] = field(default_factory=list)
    begun: bool = False  # a title of its own was read
    numbers: dict[str, Printed] = field(default_factory=dict)
    moved_error_bytes: float = 0.0  # what the digits of the bytes that were moved leave open


def read(log: Log) -> list[Report]:
    """One report for each start of sysbench."""
    reports: list[Report] = []
    run = _Run()
    asked = {command.number: facts for command in log.commands if (facts := _asked(command.words))}
    for line in printed_lines(log):
        text = line.text.strip()
        if facts := asked.get(line.number) or _pasted(text):
            # What a filter left of the output needs it, and 0.5, which does not say it again.
            _finish(run, reports)
            run = _Run(line.number, facts=facts)
            asked[line.number] = facts
            continue
        banner = _BANNER.match(text)
        if _is_again(text, run):
            # A filter took its head: what a command asked for holds for all that it started.
            asked_for = {name: run.facts[name] for name in _LASTING if name in run.facts}
            _finish(run, reports)
            run = _Run(line.number, run.version, asked_for)
        if banner or (text.startswith(_BEGINS) and run.rows):
            is_of_command = run.line in asked and line.number <= run.line + _NEAR
            begun = run.facts if is_of_command and not run.rows else {}
            _finish(run, reports)
            run = _Run(line.number, facts=begun)
        if banner:
            run.version = banner[1].rstrip(".:")
            continue
        _fact(text, run)
        _figures(log, line, text, run)
        if ":" in text and (counted := _COUNTED.match(text)):
            name, value = counted["name"], log.number(counted["value"])
            if value is not None:
                run.numbers.setdefault(name, printed(name, value, counted["value"], line.number))
    _finish(run, reports)
    return reports


def _twice(run: _Run) -> list[Twice]:
    """The sums of all threads, which it prints beside the means of one."""
    events, threads, of_one = "total number of events", "Number of threads", "(avg/stddev)"
    times = [f"execution time {of_one}", threads]
    whole = "total time taken by event execution"
    told = [
        *product(run.numbers, events, [f"events {of_one}", threads], unit="events"),
        *product(run.numbers, "sum", times, scale=1e3, unit="ms"),
        *product(run.numbers, "sum", ["avg", events], unit="ms"),
        *product(run.numbers, whole, times, unit="s"),
        *product(run.numbers, whole, ["avg", events], scale=1e-3, unit="s"),
    ]
    for operations in ("Total operations", "Operations performed"):
        told += product(run.numbers, events, [operations], unit="events")
    return told


def _is_again(text: str, run: _Run) -> bool:
    """Whether another run's figures begin: each counts its operations, and what it moved, once,
    and has one summary of its times."""
    return (
        ("operations" in run.named and bool(_OPERATIONS.match(text)))
        or (
            "transfer rate" in run.named
            and "B transferred (" in text
            and bool(_TRANSFERRED.search(text))
        )
        or ("latency mean" in run.named and text in _SUMMARIES)
    )


def _pasted(text: str) -> dict[str, Any]:
    """The settings that a command line without its prompt asks for; empty where it is none."""
    is_whole = text.startswith("sysbench ") and text.endswith(" run") and len(text) < LONGEST
    return _asked(tuple(text.split())) if is_whole else {}


def _asked(words: tuple[str, ...]) -> dict[str, Any]:
    """What a command line asks of the test of memory; empty if it starts none."""
    own = any(word.endswith("sysbench") for word in words)
    # Where `run` is missing, a narrow page has it in the next line.
    others = {"prepare", "cleanup", "help", "--help", "--version"}
    if not own or not {"memory", "--test=memory"} & set(words) or others & set(words):
        return {}
    facts: dict[str, Any] = {"test": "memory", "block": _DEFAULT_BLOCK_BYTES}
    for word in words:
        option, _, value = word.partition("=")
        if known := _OPTIONS.get(option):
            name, kind = known
            try:
                facts[name] = kind(value)
            except ValueError:
                facts.pop(name, None)
    return {name: fact for name, fact in facts.items() if fact is not None}


def _fact(text: str, run: _Run) -> None:
    name, colon, rest = text.partition(":")
    known = _FACTS.get(name + colon)
    if known and rest.strip():
        try:
            run.facts[known[0]] = known[1](rest.strip())
        except ValueError:
            return
    elif text in _HEADS:
        run.begun = True
    elif "memory speed test" in text or "memory operations speed test" in text:
        run.facts["test"] = "memory"


def _figures(log: Log, line: Line, text: str, run: _Run) -> None:
    rows: list[tuple[str, str, str, str, dict[str, Any]]] = []
    if "B transferred (" in text and (found := _TRANSFERRED.search(text)):
        # Versions before 1.0 write MB for the same 2^20 bytes.
        moved = log.number(found[1])
        of = {"bytes_moved": round(moved * 2**20)} if is_number(moved) else {}
        run.moved_error_bytes = half_digit(found[1]) * 2**20
        rows.append(("transferred", found[1], "MiB", "", {}))
        rows.append(("transfer rate", found[2], "MiB/s", "", of))
    elif found := _OPERATIONS.match(text):
        rows.append(("operations", found[1], "operations", "", {}))
        rows.append(("operation rate", found[2], "operations/s", "", {}))
    elif found := _EVENTS.match(text):
        rows.append(("event rate", found[1], "events/s", "", {}))
    elif (found := _COUNT.match(text)) and "event rate" in run.named:
        rows.append(("events", found[1], "events", "", {}))
    elif (found := _FILES.match(text)) and _is_begun(run):
        name = f"file {found[1].replace('written', 'write')} rate"
        rows.append((name, found[2], "MiB/s", "", {}))
    elif found := _INTERVAL.match(text):
        at = {"interval_end_s": log.number(found[1])}
        rows.append(("transfer rate", found[2], "MiB/s", "sample", at))
    elif (found := _TOTAL_TIME.match(text)) and _is_begun(run):
        rows.append(("total time", found[1], "s", "", {}))
        run.facts["elapsed_s"] = log.number(found[1])
        run.facts["elapsed_error_s"] = max(half_digit(found[1]), _STARTING_S)
    elif (found := _LATENCY.match(text)) and _is_begun(run) and "percentile 95" not in text:
        rows.append(("latency", found[2], "ms", _statistic(found[1]), {}))
    for name, digits, unit, statistic, of in rows:
        value = log.number(digits)
        if value is not None:
            run.line = run.line or line.number
            classes = {"class_width": _CLASS_WIDTH} if statistic.startswith("p") else {}
            run.rows.append(Result(name, value, unit, line.number, statistic, of | classes))
            run.named.add(f"{name} {statistic}".rstrip())


def _is_begun(run: _Run) -> bool:
    """Words as common as these count only behind words that are its own."""
    return bool(run.version or run.rows or run.facts or run.begun)


def _statistic(word: str) -> str:
    if share := re.search(r"(\d+)(?:th|st|nd|rd)? percentile", word):
        return f"p{share[1]}"
    return _STATISTICS.get(word, word)


def _finish(run: _Run, reports: list[Report]) -> None:
    rows, facts = run.rows, _common(run)
    if any(row.name.endswith("rate") for row in rows):
        elapsed: dict[str, Any] = {
            name: facts.pop(name) for name in ("elapsed_s", "elapsed_error_s") if name in facts
        }
        rows = [
            Result(row.name, row.value, row.unit, row.line, row.statistic, {**row.of, **elapsed})
            if "bytes_moved" in row.of and elapsed
            else row
            for row in rows
        ]
    elif len(rows) <= _COMMON_ROWS:
        return
    reports.append(Report(TOOL, rows, run.line, run.version, facts, run.notes, _twice(run)))


def _common(run: _Run) -> dict[str, Any]:
    """The facts; each thread has a buffer of its own where the scope is local."""
    facts = dict(run.facts)
    block = facts.pop("block", None)
    if not block and (block := _block(run)):
        made = "bytes and operations make blocks of"
        run.notes.append(f"The size of its blocks is not told: {made} {format_bytes(block)}.")
    if block:
        facts["array_bytes"] = block
        own = facts.get("scope") == "local"
        facts["working_set_bytes"] = block * (facts.get("threads", 1) if own else 1)
    return facts


def _block(run: _Run) -> int | None:
    """What one operation moved by the sums, where the size is not told: blocks are a power of two,
    and no other is so near."""
    moved = next((result.of["bytes_moved"] for result in run.rows if "bytes_moved" in result.of), 0)
    times = next((result.value for result in run.rows if result.name == "operations"), 0.0)
    if not (is_number(times) and 0 < times <= moved):
        return None
    block = 1 << round(math.log2(moved / times))
    return block if abs(block * times - moved) <= run.moved_error_bytes else None

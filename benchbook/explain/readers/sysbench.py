"""sysbench memory (and cpu, threads, mutex as far as they print the same): 0.4, 0.5 and 1.x."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from benchbook.core.number_format import plural
from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Twice
from benchbook.explain.printed_digits import LONGEST, half_digit, is_number
from benchbook.explain.readers.common import oltp_lines
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "sysbench"

_NUMBER = r"\d[\d.,]*"
# Of the test of processors: `[ 10s ] thds: 8 eps: 7410.46 lat (ms,95%): 2.07`.
_EVENT_INTERVAL = late(
    r"^\[ *(?P<end>\d{1,9})s ?\] thds: (?P<threads>\d{1,7}) eps: (?P<rate>[\d.]{1,18}) lat"
)
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
# Of its tests of databases: what it did in all, and in a second.
_SERVED = late(rf"^(?P<what>transactions|queries): +({_NUMBER}) +\(({_NUMBER}) per sec\.\)$")
# The parts of it, what was in vain, and how even the threads were.
_PARTS = late(r"^(?P<what>read|write|other|total): +(?P<count>\d{1,18})$")
_ASIDE = late(
    r"^(?P<what>read/write requests|other operations|ignored errors|reconnects|deadlocks): "
    rf"+(?P<count>\d{{1,18}}) +\((?P<rate>{_NUMBER}) per sec\.\)$"
)
_EVEN = late(
    rf"^(?P<what>events|execution time) \(avg/stddev\): +(?P<mean>{_NUMBER})/(?P<stddev>{_NUMBER})$"
)
_FILES = late(rf"^(read|written), MiB/s: +({_NUMBER})$")
# Of the test of files: operations, and what it opens, flushes and does.
_FILE_COUNTS = late(rf"^(reads|writes|fsyncs)/s: +({_NUMBER})$")
_FILE_INTERVAL = late(
    rf"^\[ *({_NUMBER})s \] reads: ({_NUMBER}) MiB/s writes: ({_NUMBER}) MiB/s "
    rf"fsyncs: ({_NUMBER})/s\b"
)
_FILES_OF = late(r"^(\d{1,9}) files, \S+ each$")
_FILE_FLAGS = late(r"^Extra file open flags: (\S.{0,60})$")
_FLUSHES = late(r"^Periodic FSYNC enabled, calling fsync\(\) each (\d{1,9}) requests")
_DOES = late(r"^Doing ((?:sequential|random) (?:read|write|rewrite|r/w)) test$")
# A result that somebody quotes in a sentence of his own.
_QUOTED = late(rf"(?<![\w(./-])({_NUMBER}) Mi?B/s(?:ec)?\b")
_INTERVAL = late(rf"^\[ *({_NUMBER})s \] ({_NUMBER}) Mi?B/sec")
_LATENCY = late(
    r"^(min|avg|max|sum|(?:approx\. +)?(?P<share>\d+)(?:th|st|nd|rd)? percentile): +"
    rf"(?P<time>{_NUMBER})(?:ms)?$"
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
_BEGINS = (
    "Running the test with", "Running memory speed test", "Doing memory operations speed",
    "CPU speed:",
)  # fmt: skip
_STARTING_S = 0.002  # the rate is over the time with the start of the threads, the total without


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _SIZES[found[2]] if found else None


# fact -> (what a line that tells it begins with, and options that ask for it; how to read it)
_FACTS: dict[str, tuple[tuple[str, ...], Callable[[str], Any]]] = {
    "threads": (("Number of threads", "--threads", "--num-threads"), int),
    "block": (("block size", "Memory block size", "--memory-block-size"), _bytes),
    "total_bytes": (("total size", "Memory transfer size"), _bytes),
    "operation": (("operation", "Memory operations type", "--memory-oper"), str),
    "scope": (("scope", "Memory scope type", "--memory-scope"), str),
}
_FACT_OF = {label: (name, kind) for name, (labels, kind) in _FACTS.items() for label in labels}
_DEFAULT_BLOCK_BYTES = 1024
_LASTING = ("test", "block", "threads", "operation", "scope")
_COMMON_ROWS = 2
_ONE_OF = {"transactions": "transaction", "queries": "query"}
_NEAR = 3  # lines from a command to its banner


@dataclass
class _Run(Run):
    named: set[str] = field(default_factory=set)  # what its results are called, with the statistic
    begun: bool = False  # a title of its own was read
    is_quoted: bool = False  # its result stands in a sentence
    queried: bool = False  # the counts of its queries follow
    numbers: dict[str, Printed] = field(default_factory=dict)
    intervals: int = 0  # of its tests of databases
    moved_error_bytes: float = 0.0  # what the digits of the bytes that were moved leave open

    @property
    def is_sure(self) -> bool:
        """Whether it has words that are its own: common ones count only behind them."""
        return bool(self.version or self.results or self.facts or self.begun)

    def finish(self) -> bool:
        """Give its rate the time that it is over; few lines without a rate may be of anything."""
        self.facts, self.twice = _common(self), _twice(self)
        self.facts |= _of_threads(self)
        if not any(result.name.endswith("rate") for result in self.results):
            return len(self.results) > _COMMON_ROWS
        timed = ("elapsed_s", "elapsed_error_s")
        elapsed = {name: self.facts.pop(name) for name in timed if name in self.facts}
        self.results = [
            replace(result, of={**result.of, **elapsed}) if "bytes_moved" in result.of else result
            for result in self.results
        ]
        return True


def read(log: Log) -> list[Report]:
    """One report for each start of sysbench."""
    asked = {
        command.number: facts if command.holds_to == math.inf else {}
        for command in log.commands
        if (facts := _asked(command.words))
    }
    return LineReader(TOOL, _Run, partial(_line, asked))(log)


def _line(asked: dict[int, dict[str, Any]], reading: Reading[_Run], text: str) -> None:
    run, number = reading.run, reading.line.number
    if facts := asked[number] if number in asked else _pasted(text):
        # What a filter left of the output needs it, and 0.5, which does not say it again.
        asked[number] = facts
        reading.begin(facts=facts)
        return
    banner = _BANNER.match(text)
    if _is_again(text, run):
        # A filter took its head: what a command asked for holds for all that it started.
        asked_for = {name: run.facts[name] for name in _LASTING if name in run.facts}
        run = reading.begin(version=run.version, facts=asked_for)
    if banner and run.is_quoted and _QUOTED.search(text):
        # Somebody says in a line each what two versions make of the same command.
        asked_for = {name: run.facts[name] for name in _LASTING if name in run.facts}
        run = reading.begin(facts=asked_for)
    elif banner or (text.startswith(_BEGINS) and run.named):
        is_of_command = run.line in asked and number <= run.line + _NEAR
        run = reading.begin(facts=run.facts if is_of_command and not run.results else {})
    if banner:
        run.version = banner[1].rstrip(".:")
        if not _QUOTED.search(text):
            return
    label, _, rest = text.partition(":")
    if rest.strip():
        _tell(run.facts, label, rest.strip())
    _tell_files(run.facts, text)
    if text.startswith("queries performed"):
        run.queried = run.begun = True
    elif text in _HEADS:
        run.begun = True
    elif "memory speed test" in text or "memory operations speed test" in text:
        run.facts["test"] = "memory"
    _figures(reading, text)
    if ":" in text and (counted := _COUNTED.match(text)):
        name, value = counted["name"], reading.number(counted["value"])
        if value is not None:
            run.numbers.setdefault(name, printed(name, value, counted["value"], number))


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


_NEAR_COUNT = 0.01  # of a number of threads: how far it may be from a whole one


def _of_threads(run: _Run) -> dict[str, Any]:
    """How many events there were, and how many threads by what all and one of them did, where the
    head that says so was cut off."""
    events = run.numbers.get("total number of events")
    if events is None:
        return {}
    facts: dict[str, Any] = {"events": events.value}
    if "threads" not in run.facts and (count := _count_of_threads(run, events.value)):
        facts |= {"threads": count, "is_count_made": True}
        made = (
            "Its events divided by those of a thread make {}."
            if "events (avg/stddev)" in run.numbers
            else "Its events, their mean time and its duration make {}, if all were busy."
        )
        run.notes.append(made.format(plural(count, "thread")))
    return facts


def _count_of_threads(run: _Run, events: float) -> int:
    of_one = run.numbers.get("events (avg/stddev)")
    mean, elapsed = run.numbers.get("avg"), run.facts.get("elapsed_s")
    if of_one is not None and of_one.value > 0:
        made = events / of_one.value
    elif mean is not None and is_number(elapsed) and elapsed > 0:
        made = events * mean.value / 1e3 / elapsed  # busy all the time
    else:
        return 0
    count = round(made)
    return count if count >= 1 and abs(made - count) <= _NEAR_COUNT * count else 0


def _is_again(text: str, run: _Run) -> bool:
    """Whether another run's figures begin: each counts its operations, and what it moved, once,
    and has one summary of its times."""
    return (
        ("operations" in run.named and bool(_OPERATIONS.match(text)))
        or ("transferred" in run.named and bool(_TRANSFERRED.search(text)))
        or ("latency mean" in run.named and text in _SUMMARIES)
    )


def _is_quoted(run: _Run, text: str) -> bool:
    """Whether a sentence gives the one result of sysbench memory."""
    is_of_memory = run.facts.get("test") == "memory" or ("sysbench" in text and "memory" in text)
    return is_of_memory and not run.named and len(_QUOTED.findall(text)) == 1


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
        label, _, value = word.partition("=")
        _tell(facts, label, value)
    return {name: fact for name, fact in facts.items() if fact is not None}


def _tell(facts: dict[str, Any], label: str, text: str) -> None:
    """Keep what a line or an option tells, if it is one of these facts."""
    if label in _FACT_OF:
        name, kind = _FACT_OF[label]
        with suppress(ValueError):
            facts[name] = kind(text)


def _tell_files(facts: dict[str, Any], text: str) -> None:
    """Keep what a line tells of the test of files."""
    if text.startswith("Extra file open flags") and (found := _FILE_FLAGS.match(text)):
        facts["open_flags"] = found[1]
    elif text.startswith("Periodic FSYNC") and (found := _FLUSHES.match(text)):
        facts["flushed_every"] = int(found[1])
    elif text.endswith(" each") and (found := _FILES_OF.match(text)):
        facts["files"] = int(found[1])
    elif text.startswith("Doing ") and (found := _DOES.match(text)):
        facts["operation"] = found[1]


def _figures(reading: Reading[_Run], text: str) -> None:
    """The figures of a line."""
    run = reading.run
    for own in oltp_lines.figures(text, run.intervals):
        _add(reading, own.name, own.digits, own.unit, own.statistic, own.of)
    run.intervals += oltp_lines.is_interval(text)
    run.facts |= oltp_lines.facts(text, reading.line.number)
    if "B transferred (" in text and (found := _TRANSFERRED.search(text)):
        # Versions before 1.0 write MB for the same 2^20 bytes.
        moved = reading.number(found[1])
        of: dict[str, Any] = {"bytes_moved": round(moved * 2**20)} if is_number(moved) else {}
        run.moved_error_bytes = half_digit(found[1]) * 2**20
        _add(reading, "transferred", found[1], "MiB")
        _add(reading, "transfer rate", found[2], "MiB/s", "", of)
    elif found := _OPERATIONS.match(text):
        _add(reading, "operations", found[1], "operations")
        _add(reading, "operation rate", found[2], "operations/s")
    elif found := _EVENTS.match(text):
        _add(reading, "event rate", found[1], "events/s")
    elif "per sec.)" in text and (found := _SERVED.match(text)):
        what = found["what"]
        _add(reading, what, found[2], what)
        _add(reading, f"{_ONE_OF[what]} rate", found[3], f"{what}/s")
    elif run.is_sure and (found := _PARTS.match(text)) and run.queried:
        reading.show(f"{found['what']} queries", found["count"], "queries")
    elif "per sec.)" in text and run.is_sure and (found := _ASIDE.match(text)):
        what, unit = found["what"], found["what"].split()[-1]
        if what not in run.named:
            reading.show(what, found["count"], unit)
        if float(found["count"]):
            reading.show(f"{what} rate", found["rate"], f"{unit}/s")
    elif "avg/stddev" in text and run.is_sure and (found := _EVEN.match(text)):
        what = "events of a thread" if found["what"] == "events" else "time of a thread"
        unit = "events" if found["what"] == "events" else "s"
        reading.show(what, found["mean"], unit, "mean")
        reading.show(what, found["stddev"], unit, "stddev")
    elif (found := _COUNT.match(text)) and "event rate" in run.named:
        _add(reading, "events", found[1], "events")
    elif (found := _FILES.match(text)) and run.is_sure:
        _add(reading, f"file {found[1].replace('written', 'write')} rate", found[2], "MiB/s")
    elif found := _INTERVAL.match(text):
        of = {"interval_end_s": reading.number(found[1])}
        _add(reading, "transfer rate", found[2], "MiB/s", "sample", of)
    elif (found := _FILE_COUNTS.match(text)) and run.is_sure:
        _add(reading, f"file {found[1]}", found[2], "operations/s", "mean")
    elif text.startswith("[") and (found := _EVENT_INTERVAL.match(text)):
        run.facts.setdefault("threads", int(found["threads"]))
        of = {"interval_end_s": float(found["end"])}
        reading.show("event rate of the interval", found["rate"], "events/s", "", of)
    elif found := _FILE_INTERVAL.match(text):
        of = {"interval_end_s": reading.number(found[1])}
        for name, digits in (("file read rate", found[2]), ("file write rate", found[3])):
            _add(reading, name, digits, "MiB/s", "sample", of)
        _add(reading, "file fsyncs", found[4], "operations/s", "sample", of)
    elif (found := _TOTAL_TIME.match(text)) and run.is_sure:
        run.facts["elapsed_s"] = reading.number(found[1])
        run.facts["elapsed_error_s"] = max(half_digit(found[1]), _STARTING_S)
        _add(reading, "total time", found[1], "s")
    elif (found := _LATENCY.match(text)) and run.is_sure and "percentile 95" not in text:
        share = found["share"]
        of = {"class_width": _CLASS_WIDTH} if share else {}
        statistic = f"p{share}" if share else _STATISTICS.get(found[1], found[1])
        _add(reading, "latency", found["time"], "ms", statistic, of)
    elif len(text) < LONGEST and _is_quoted(run, text) and (found := _QUOTED.search(text)):
        run.is_quoted = _add(reading, "transfer rate", found[1], "MiB/s")


def _add(
    reading: Reading[_Run],
    name: str,
    digits: str,
    unit: str,
    statistic: str = "",
    of: dict[str, Any] | None = None,
) -> bool:
    """Add a figure; whether it is a number."""
    is_number_at_all = reading.add(name, digits, unit, statistic, of)
    if is_number_at_all:
        reading.run.named.add(f"{name} {statistic}".rstrip())
    return is_number_at_all


def _common(run: _Run) -> dict[str, Any]:
    """The facts; each thread has a buffer of its own where the scope is local."""
    facts = dict(run.facts)
    block = facts.pop("block", None)
    if not block and (block := _block(run)):
        made = f"bytes and operations make blocks of {format_bytes(block)}"
        run.notes.append(f"Its lines do not say the size of its blocks: {made}.")
    if block:
        facts["array_bytes"] = block
        own = facts.get("scope") == "local"
        facts["working_set_bytes"] = block * (facts.get("threads", 1) if own else 1)
    return facts


def _block(run: _Run) -> int | None:
    """What one operation moved by the sums, where the size is not told: blocks are a power of two,
    and no other is so near."""
    moved = next(
        (result.of["bytes_moved"] for result in run.results if "bytes_moved" in result.of), 0
    )
    times = next((result.value for result in run.results if result.name == "operations"), 0.0)
    if not (is_number(times) and 0 < times <= moved):
        return None
    block = 1 << round(math.log2(moved / times))
    return block if abs(block * times - moved) <= run.moved_error_bytes else None

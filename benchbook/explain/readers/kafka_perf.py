"""kafka-producer-perf-test and tools that print its lines: records, rate and latency, interval by
interval and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    NUMBER,
    RATE,
    TIME,
    host_of,
    known,
    whole,
)

TOOL = "kafka-perf"
_ROW = late(
    rf"(?:^|[\])\w] )(?P<count>\d{{1,15}})(?P<all> total)? records (?:sent|processed), "
    rf"(?P<rate>{NUMBER}) records/sec(?P<fluvio>:)? \((?P<moved>{NUMBER}) MB/sec\)"
    rf"(?:, (?P<mean>{NUMBER}) ?ms avg latency, (?P<max>{NUMBER}) ?(?:ms )?max latency)?"
    r"(?P<rest>.*)$"
)
_SHARE = late(rf"(?P<time>{NUMBER}) ?ms (?:p0\.)?(?P<share>\d{{2}}(?:\.\d{{1,3}})?)(?:th)?\b")
_ALL = late(
    rf"^(?P<mean>{NUMBER}) ?ms avg latency, (?P<max>{NUMBER}) ?ms max latency, (?P<rest>.*)$"
)
_MOST_SHARES = 12


@dataclass
class _Run(Run):
    """One start: its intervals, and the line of all of them."""

    is_whole: bool = False
    intervals: int = 0


def read(log: Log) -> list[Report]:
    """One report for each start."""
    started = [own for own in log.commands if _starts(own)]
    return LineReader(TOOL, _Run, partial(_line, started))(log)


def _starts(command: Command) -> bool:
    return any("producer-perf" in word or "ProducerPerformance" in word for word in command.words)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if " records " in text and (found := _ROW.search(text)):
        if run.is_whole:
            run = reading.begin()
        if not run.results:
            run.line = run.line or reading.line.number
            run.facts |= _asked(commands, reading)
        run.is_whole = bool(found["all"] or _SHARE.search(found["rest"]))
        statistic = "mean" if run.is_whole else "interval"
        of: dict[str, Any] = {} if run.is_whole else {"interval": run.intervals}
        reading.add(COUNT, float(found["count"]), "records", "total" if run.is_whole else statistic)
        reading.add(RATE, found["rate"], "records/s", statistic, of)
        run.intervals += not run.is_whole
        unit = "MB/s" if found["fluvio"] else "MiB/s"
        reading.add("throughput", found["moved"], unit, statistic, of)
        if found["fluvio"]:
            run.facts["printed_by"] = "fluvio"
        if found["mean"]:
            _times(reading, found["mean"], found["max"], is_whole=run.is_whole, of=of)
        if run.is_whole:
            _shares(reading, found["rest"])
            _took(run, float(found["count"]), float(found["rate"]))
    elif run.results and not run.is_whole and (found := _ALL.match(text)):
        _times(reading, found["mean"], found["max"], is_whole=True, of={})
        _shares(reading, found["rest"])


def _times(
    reading: Reading[_Run], mean: str, most: str, *, is_whole: bool, of: dict[str, Any]
) -> None:
    """The mean and the longest time, of all or of an interval."""
    if is_whole:
        reading.add(TIME, mean, "ms", "mean", of)
        reading.add(TIME, most, "ms", "max", of)
    else:
        reading.add(TIME, mean, "ms", "interval", of)
        reading.add(f"longest {TIME}", most, "ms", "interval", of)


def _shares(reading: Reading[_Run], rest: str) -> None:
    for found in [*_SHARE.finditer(rest)][:_MOST_SHARES]:
        share = float(found["share"])
        reading.add(TIME, found["time"], "ms", "median" if share == 50 else f"p{share:g}")


def _took(run: _Run, count: float, rate: float) -> None:
    if rate > 0:
        run.facts["elapsed_s"] = float(f"{count / rate:.4g}")  # as exact as both are printed


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    """What the command above asked for."""
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    servers = next(
        (word.partition("=")[2] for word in command.words if word.startswith("bootstrap.servers=")),
        "",
    )
    pace = whole(option(command, "--throughput"))
    facts = known(
        served_at=host_of(servers),
        request_bytes=whole(option(command, "--record-size")),
        asked_per_s=pace or None,
        is_paced=bool(pace) or None,
    )
    return facts | ({"asked_in_line": command.number} if pace else {})

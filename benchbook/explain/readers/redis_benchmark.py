"""redis-benchmark: rate of a command, clients, percentiles; old, new, and its short form (-q)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    commands_of,
    known,
    whole,
)

TOOL = "redis-benchmark"
_TITLE = late(r"^={4,8} (?P<test>\S.{0,60}?) ={4,8}$")
_COUNTED = late(rf"^(?P<count>\d{{1,15}}) requests completed in (?P<time>{NUMBER}) seconds$")
_CLIENTS = late(r"^(?P<count>\d{1,8}) parallel clients$")
_SIZE = late(r"^(?P<bytes>\d{1,12}) bytes payload$")
_SHARE = late(rf"^(?P<share>{NUMBER})% <= (?P<time>{NUMBER}) milliseconds\b")
_RATE = late(rf"^(?P<summary>throughput summary: )?(?P<rate>{NUMBER}) requests per second$")
_SHORT = late(
    rf"^(?P<test>[A-Z][\w ().-]{{1,60}}): (?P<rate>{NUMBER}) requests per second"
    rf"(?:, p50=(?P<median>{NUMBER}) msec)?$"
)
_HEADS = ("avg", "min", "p50", "p95", "p99", "max")
_STATISTICS = dict(zip(_HEADS, ("mean", "min", "median", "p95", "p99", "max"), strict=True))
_VALUES = late(rf"^{NUMBER}(?:\s+{NUMBER}){{5}}$")
# Of the many shares, the first from these on.
_SHOWN = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_OF_TAIL = 99.5  # shares above it that are in no summary
_SETTING = late(r"^(?P<what>keep alive|threads): (?P<count>\d{1,6})$")


@dataclass
class _Run(Run):
    """One test."""

    shares: list[tuple[float, float, int]] = field(default_factory=list)
    of_summary: bool = False

    def finish(self) -> bool:
        """Give the shares that matter of its hundreds, where no summary does."""
        from benchbook.explain.model import Result

        has_summary = any(own.name == TIME for own in self.results)
        if self.shares:
            last = self.shares[-1]
            wanted = [least for least in _SHOWN if least > _OF_TAIL or not has_summary]
            chosen = {
                next((own for own in self.shares if own[0] >= least), last) for least in wanted
            }
            if not has_summary and self.shares[0][0] < 1:
                share, time, line = self.shares[0]
                self.results.append(Result(TIME, time, "ms", line, f"p{share:g}"))
            for share, time, line in sorted(chosen):
                if share < 100 and (share > _OF_TAIL or not has_summary):
                    self.results.append(Result(TIME, time, "ms", line, f"p{share:g}"))
            if last[0] == 100 and not has_summary:
                self.results.append(Result(TIME, last[1], "ms", last[2], "max"))
        return any(own.name in (RATE, COUNT) for own in self.results)


def read(log: Log) -> list[Report]:
    """One report for each test."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, TOOL)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TITLE.match(text):
        reading.begin(facts=_asked(commands, reading) | {"test": found["test"]})
    elif found := _COUNTED.match(text):
        if run.results:
            run = reading.begin(facts=_asked(commands, reading))
        run.facts["elapsed_s"] = float(found["time"])
        reading.add(COUNT, float(found["count"]), "requests", "total")
    elif found := _CLIENTS.match(text):
        run.facts["concurrency"] = int(found["count"])
    elif found := _SIZE.match(text):
        run.facts["request_bytes"] = int(found["bytes"])
    elif run.results and (found := _SETTING.match(text)):
        name = "threads" if found["what"] == "threads" else "keeps_connections"
        run.facts[name] = int(found["count"]) if name == "threads" else found["count"] != "0"
    elif found := _SHARE.match(text):
        run.shares.append((float(found["share"]), float(found["time"]), reading.line.number))
    elif (found := _RATE.match(text)) and (run.results or run.shares or found["summary"]):
        reading.add(RATE, found["rate"], "requests/s", "mean")
    elif found := _SHORT.match(text):
        reading.begin(facts=_asked(commands, reading) | {"test": found["test"]})
        reading.add(RATE, found["rate"], "requests/s", "mean")
        if found["median"]:
            reading.add(TIME, found["median"], "ms", "median")
    elif tuple(text.split()) == _HEADS:
        run.of_summary = True
    elif run.of_summary and _VALUES.match(text):
        for head, value in zip(_HEADS, text.split(), strict=True):
            reading.add(TIME, value, "ms", _STATISTICS[head])
        run.of_summary = False


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    """What the command above asked for; without a host it is this one."""
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    host = option(command, "-h") or ("" if option(command, "-s", "-u") else "127.0.0.1")
    batch, clients = (whole(option(command, name)) for name in ("-P", "-c"))
    return known(
        served_at=host,
        served_port=option(command, "-p"),
        pipelined=batch if batch and batch > 1 else None,
        concurrency=clients,
    )

"""h2load: rate, answers by status, and times of requests, connections and first bytes."""

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
    FAILED,
    NUMBER,
    RATE,
    TIME,
    TIME_UNIT,
    commands_of,
    host_of,
    known,
    unit_of,
    whole,
)

TOOL = "h2load"
_FINISHED = late(
    rf"^finished in (?:(?P<minutes>\d{{1,5}})m)?(?P<time>{NUMBER})(?P<unit>{TIME_UNIT}), "
    rf"(?P<rate>{NUMBER}) req/s, (?P<moved>{NUMBER})(?P<prefix>[KMG]?)B/s$"
)
_CLIENTS = late(r"^spawning thread #\d+: (?P<clients>\d{1,7}) total client\(s\)\.")
_REQUESTS = late(
    r"^requests: (?P<total>\d+) total, (?P<started>\d+) started, (?P<done>\d+) done, "
    r"(?P<succeeded>\d+) succeeded, (?P<failed>\d+) failed, (?P<errored>\d+) errored"
    r"(?:, (?P<timeout>\d+) timeout)?$"
)
_STATUS = late(r"^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx$")
_TIMES = late(r"^time (?P<what>for request|for connect|to 1st byte):\s+(?P<rest>\S.*)$")
_CELL = late(rf"(?P<value>{NUMBER})(?P<unit>{TIME_UNIT})")
_NAMES = {"for request": TIME, "for connect": "time to connect"}
_NAMES["to 1st byte"] = "time to the first byte"
_STATISTICS = {"sd": "stddev", "p95": "p95", "p99": "p99", "median": "median"}
_STATISTICS |= {"min": "min", "max": "max", "mean": "mean"}
_BINARY = {"": "B/s", "K": "KiB/s", "M": "MiB/s", "G": "GiB/s"}


@dataclass
class _Run(Run):
    """One start."""

    columns: list[str] = field(default_factory=list)
    clients: int = 0
    is_finished: bool = False


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, TOOL)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text == "starting benchmark...":
        run = reading.begin()
    elif found := _CLIENTS.match(text):
        run.clients += int(found["clients"])
    elif found := _FINISHED.match(text):
        run = reading.begin() if run.is_finished else run
        run.is_finished = True
        _settings(commands, reading)
        scale = {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit_of(found["unit"])]
        run.facts["elapsed_s"] = float(found["time"]) * scale + 60 * int(found["minutes"] or 0)
        reading.add(RATE, found["rate"], "requests/s", "mean")
        reading.add("throughput", found["moved"], _BINARY[found["prefix"]], "mean")
    elif found := _REQUESTS.match(text):
        reading.add(COUNT, float(found["done"]), "requests", "total")
        done = int(found["done"])
        if done >= int(found["succeeded"]) + int(found["failed"]):  # not of all versions
            run.facts["failed_are_counted"] = True
        # What failed has those that were errored, and these have the timeouts.
        if int(found["errored"]):
            most = max(int(found["failed"]), int(found["errored"]))
            reading.add(FAILED, float(most), "requests", "", {"failure": "failed"})
        if int(found["timeout"] or 0):
            reading.add(FAILED, float(found["timeout"]), "requests", "", {"failure": "timeouts"})
    elif found := _STATUS.match(text):
        others = sum(int(found[place]) for place in (2, 3, 4))
        reading.add("responses", float(found[1]), "responses", "", {"status": "2xx"})
        if others:
            reading.add("responses", float(others), "responses", "", {"status": "other"})
            reading.add(FAILED, float(others), "requests", "", {"failure": "status"})
    elif text.startswith("min ") and "mean" in text and "sd" in text:
        run.columns = text.replace("+/- sd", "").split()
    elif run.columns and (found := _TIMES.match(text)):
        cells = _CELL.findall(found["rest"])
        for column, (value, unit) in zip(run.columns, cells, strict=False):
            if column in _STATISTICS:
                name = _NAMES[found["what"]]
                reading.add(name, value, unit_of(unit), _STATISTICS[column])


def _settings(commands: Sequence[Command], reading: Reading[_Run]) -> None:
    """Clients and streams, as the command or the lines above say."""
    run, command = reading.run, last_above(commands, reading.line.number)
    streams = whole(option(command, "-m", "--max-concurrent-streams")) or (1 if command else None)
    clients = run.clients or whole(option(command, "-c", "--clients"))
    facts: dict[str, Any] = {}
    if command:
        address = next((word for word in reversed(command.words) if "://" in word), "")
        facts |= known(served_at=host_of(address))
        if option(command, "-r", "--rate", "--rps"):
            facts["is_paced"] = True
    if clients and streams:
        facts["concurrency"] = clients * streams
    run.facts |= facts | known(connections=clients)

"""PerfTest of RabbitMQ, lavinmqperf, pulsar-perf, quiver and nats bench: what was sent, received
and confirmed a second, and how old messages were when they arrived."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER, known, unit_of, whole

TOOL = "message-queue"
_N = r"\d[\d,]*(?:\.\d+)?"
_INTERVAL = late(rf"^(?:id: )?(?P<id>[^,]{{1,80}}), time:? (?P<end>{NUMBER}) ?s, (?P<rest>\S.*)$")
_RATE = late(rf"\b(?P<what>sent|received|confirmed|nacked|returned): (?P<rate>{NUMBER}) msg/s")
_TIMES = late(
    r"\b(?P<heads>min(?:/[a-z0-9]{2,6}){1,5}) (?P<what>\w+ latency|latency): ?,? ?"
    r"(?P<times>\d+(?:/\d+){1,5}) (?P<unit>µs|ms|microseconds|\?s)(?:,|$|\s)"
)
_WHOLE = late(
    r"^(?:(?:id: )?(?P<id>[^,]{1,80}), )?(?P<what>send|sending|recv|recving|receiving) rate "
    rf"avg: (?P<rate>{NUMBER}) msg/s$"
)
_LAVIN = late(
    rf"^Publish rate: (?P<sent>{_N}) msgs/s,? Consume rate: (?P<received>{_N}) msgs/s"
    r"(?: \| Latency \((?P<unit>ms|us)\) (?P<rest>.*))?$"
)
_NAMED = late(rf"\b(?P<head>min|median|\d{{2}}th): (?P<time>{NUMBER})")
_PULSAR = late(
    rf"Throughput (?P<what>produced|received): (?:{_N} +msg --- )?(?P<rate>{_N}) +msg/s --- "
    rf"(?:{_N} +Mbit/s)(?: --- failure (?P<failed>{NUMBER}) msg/s)?"
)
_QUIVER = late(rf"^(?P<what>Sender|Receiver|End-to-end) rate \.+ (?P<rate>{_N}) messages/s$")
_SHARE = late(r"(?P<share>\d{1,3}(?:\.\d{1,3})?)% \.+ (?P<time>\d{1,9}) ms\b")
_NATS = late(
    rf"^(?:NATS )?(?P<what>Pub/Sub|Pub|Sub|Request-Reply) stats: (?P<rate>{_N}) msgs/sec\b"
)
_LONGEST = 1000  # characters of a line
_STATISTICS = {"min": "min", "median": "median", "avg": "mean", "max": "max"}
_SENDS = {"produced": "sent", "Sender": "sent", "Receiver": "received", "Pub": "sent"}
_SENDS |= {"received": "received", "Sub": "received"}


@dataclass
class _Run(Run):
    """One start."""

    id: str = ""
    intervals: int = 0


def read(log: Log) -> list[Report]:
    """One report for each start."""
    started = [own for own in log.commands if _starts(own)]
    return LineReader(TOOL, _Run, partial(_line, started), lines=_lines)(log)


def _lines(log: Log) -> list[Line]:
    """Lines that may be of such a tool, which are longer than those of tables."""
    several = log.having("msg", "messages/s", "% ...")
    return [line for line in several if len(line.text) <= _LONGEST]


def _starts(command: Command) -> bool:
    return any(word.endswith(("PerfTest", "perf-test", "runjava")) for word in command.words)


def _of(commands: Sequence[Command], reading: Reading[_Run], name: str) -> _Run:
    """The run of that name: another one begins where the name is another."""
    run = reading.run
    if run.id != name and run.results:
        run = reading.begin()
    if not run.results:
        run.line = run.line or reading.line.number
        run.facts |= _asked(commands, reading)
    run.id = name
    return run


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    if "msg" in text:
        if found := _INTERVAL.match(text):
            _interval(commands, reading, found)
        elif found := _WHOLE.match(text):
            _of(commands, reading, found["id"] or reading.run.id)
            is_sent = found["what"].startswith("send")
            name = "sent" if is_sent else "received"
            reading.add(name, found["rate"], "messages/s", "mean")
        elif found := _LAVIN.match(text):
            of = _next(commands, reading)
            for name in ("sent", "received"):
                reading.add(name, found[name].replace(",", ""), "messages/s", "interval", of)
            for part in [*_NAMED.finditer(found["rest"] or "")][:8]:
                name = f"{_statistic(part['head'])} latency"
                reading.add(name, part["time"], found["unit"], "interval", of)
        elif found := _PULSAR.search(text):
            of = _next(commands, reading)
            rate = found["rate"].replace(",", "")
            reading.add(_SENDS[found["what"]], rate, "messages/s", "interval", of)
            if found["failed"] and float(found["failed"]):
                reading.add("failed", found["failed"], "messages/s", "interval", of)
        elif found := _NATS.match(text):
            rate = found["rate"].replace(",", "")
            name = _SENDS.get(found["what"], "messages of both ways")
            reading.add(name, rate, "messages/s", "mean")
    if "messages/s" in text and (found := _QUIVER.match(text)):
        name = _SENDS.get(found["what"], "end to end")
        if any(own.name == name for own in reading.run.results):
            reading.begin()
        reading.add(name, found["rate"].replace(",", ""), "messages/s", "mean")
    elif "% ..." in text and reading.run.results:
        for part in [*_SHARE.finditer(text)][:4]:
            share = float(part["share"])
            statistic = {0.0: "min", 50.0: "median", 100.0: "max"}.get(share) or f"p{share:g}"
            reading.add("latency", part["time"], "ms", statistic)


def _statistic(head: str) -> str:
    return _STATISTICS.get(head) or f"p{head.removesuffix('th')}"


def _next(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    run = _of(commands, reading, "")
    run.intervals += 1
    return {"interval": run.intervals - 1}


def _interval(commands: Sequence[Command], reading: Reading[_Run], found: re.Match[str]) -> None:
    run = _of(commands, reading, found["id"])
    of: dict[str, Any] = {"interval": run.intervals, "interval_end_s": float(found["end"])}
    run.intervals += 1
    for rate in [*_RATE.finditer(found["rest"])][:6]:
        reading.add(rate["what"], rate["rate"], "messages/s", "interval", of)
    if times := _TIMES.search(found["rest"]):
        heads, cells = times["heads"].split("/"), times["times"].split("/")
        unit = "us" if times["unit"] in ("microseconds", "?s") else unit_of(times["unit"])
        for head, cell in zip(heads, cells, strict=False):
            reading.add(f"{_statistic(head)} latency", cell, unit, "interval", of)


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    is_varied = bool(option(command, "-vr", "--variable-rate")) or None
    return known(request_bytes=whole(option(command, "-s", "--size")), is_varied=is_varied)

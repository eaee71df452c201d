"""fabtests of libfabric (fi_pingpong, fi_rdm_pingpong, fi_rdm_bw, ...): a table by the size of a
transfer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "fabtests"
_HEAD = late(
    r"^(?:name\s+)?bytes\s+(?:#sent|iters)\s+(?:#ack\s+)?total\s+time\s+MB/sec\s+usec/xfer"
    r"\s+Mxfers/sec$"
)
_ROW = late(
    r"^(?P<size>\d{1,6}(?:\.\d)?[kmg]?)\s+(?P<count>\d{1,7}(?:\.\d)?[kmg]?)\s+"
    r"(?:=?[\d.]{1,8}[kmg]?\s+)?(?P<moved>\d{1,9}(?:\.\d{0,9})?)(?P<of_moved>[kmg]?)\s+(?P<took>\d+\.\d+)s\s+(?P<rate>\d+\.\d+)\s+"
    r"(?P<each>\d+\.\d+)\s+(?P<many>\d+\.\d+)$"
)
_PROGRAM = late(r"(?:^|/)(?P<name>fi_\w+)$")
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_UNITS = {"": "B", "k": "KiB", "m": "MiB", "g": "GiB"}
_COUNTS = {"k": 10**3, "m": 10**6, "g": 10**9}


@dataclass
class _Run(Run):
    """One table."""

    columns: list[str] = field(default_factory=list)


def read(log: Log) -> list[Report]:
    """One report for each table."""
    commands = [own for own in log.commands if _program(own)]
    return LineReader(TOOL, _Run, partial(_line, commands))(log)


def _program(command: Command) -> str:
    for word in command.words:
        if found := _PROGRAM.search(word):
            return found["name"]
    return ""


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.match(text):
        command = last_above(commands, reading.line.number)
        run = reading.begin(columns=text.split())
        run.facts = _facts(command, text)
        if "mode" in run.facts:
            run.notes.append("its usec/xfer is half of a round trip")
    elif run.columns and (found := _ROW.match(text)):
        size, count = _many(found["size"], _SIZES), _many(found["count"], _COUNTS)
        of: dict[str, Any] = {"message_bytes": size, "iterations": count}
        name = "latency" if "mode" in run.facts else "time per transfer"
        reading.add(name, found["each"], "us", "mean", of)
        reading.add("throughput", found["rate"], "MB/s", "mean", of)
        reading.show("time", found["took"], "s", of=of)
        reading.show("moved", found["moved"], _UNITS[found["of_moved"]], of=of)


def _facts(command: Command | None, head: str) -> dict[str, Any]:
    """What the table is of: fi_pingpong alone counts what was sent and acknowledged."""
    program = _program(command) if command else ""
    if "#sent" in head:
        program = "fi_pingpong"
    facts: dict[str, Any] = {"test": program} if program else {}
    if program.endswith("pingpong"):
        facts["mode"] = "ping-pong"
    provider = option(command, "-p")
    return facts | ({"transport": provider} if provider else {})


def _many(text: str, sizes: dict[str, int]) -> int:
    if text[-1] in sizes:
        return round(float(text[:-1]) * sizes[text[-1]])
    return round(float(text))

"""ucx_perftest: stages of a test with its overhead or latency, bandwidth and rate of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import commands_of, known, whole

TOOL = "ucx_perftest"
_HEAD = late(r"^\|?\s*\|?.*\b(?P<what>overhead|latency) \(usec\)\s*\|\s*bandwidth \(MB/s\)")
_ROW = late(
    r"^(?P<stage>\[thread \d{1,4}\]|Final:)?\s*(?P<count>\d{1,12})\s+(?P<median>\d+\.\d+)\s+"
    r"(?P<mean>\d+\.\d+)\s+(?P<all>\d+\.\d+)\s+(?P<rate>\d+\.\d+)\s+(?P<all_rate>\d+\.\d+)\s+"
    r"(?P<many>\d{1,12})\s+(?P<all_many>\d{1,12})$"
)


@dataclass
class _Run(Run):
    """One test: of its rows the last is kept as the whole."""

    what: str = ""
    rows: int = 0

    def finish(self) -> bool:
        """Say what its MB are."""
        if self.results:
            self.notes.append("its MB/s are of 2^20 bytes; a row is the mean since the one before")
        return bool(self.results)


def read(log: Log) -> list[Report]:
    """One report for each test."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, TOOL)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        command = last_above(commands, reading.line.number)
        run = reading.begin(what=found["what"])
        size = whole(option(command, "-s"))
        run.facts = known(test=option(command, "-t"), message_bytes=size)
    elif run.what and (found := _ROW.match(text)):
        if (found["stage"] or "").startswith("[thread ") and found["stage"] != "[thread 0]":
            return  # several threads are not added up
        run.rows += 1
        of: dict[str, Any] = {"iterations": int(found["count"])}
        run.results = [own for own in run.results if "interval" in own.of]
        name = "latency" if run.what == "latency" else "overhead"
        interval = {"interval": run.rows - 1}
        reading.add("bandwidth", found["rate"], "MiB/s", "interval", of | interval)
        reading.show(f"{name} of the row", found["median"], "us", "median", of | interval)
        reading.show(f"{name} of the row", found["mean"], "us", "mean", of | interval)
        reading.show("message rate of the row", found["many"], "messages/s", of=of | interval)
        reading.add(name, found["median"], "us", "median", of)
        reading.add(name, found["all"], "us", "mean", of)
        reading.add("bandwidth", found["all_rate"], "MiB/s", "mean", of)
        reading.add("message rate", float(found["all_many"]), "messages/s", "mean", of)

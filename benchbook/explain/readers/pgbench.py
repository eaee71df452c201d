"""pgbench: transactions a second, latency, clients and scale."""

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
    add_failed,
    commands_of,
    known,
    whole,
)

TOOL = "pgbench"
_SETTING = late(
    r"^(?P<what>scaling factor|number of clients|number of threads): (?P<count>\d{1,9})$"
)
_FACTS = {"scaling factor": "scale", "number of clients": "concurrency"}
_FACTS |= {"number of threads": "threads"}
_TYPE = late(r"^transaction type: (?P<type>\S.{0,80})$")
_DURATION = late(r"^duration: (?P<time>\d{1,9}) s$")
_DONE = late(r"^number of transactions actually processed: (?P<count>\d{1,15})(?:/\d{1,15})?$")
_FAILED = late(r"^number of failed transactions: (?P<count>\d{1,15})\b")
_LATENCY = late(rf"^latency (?P<what>average|stddev)(?::| =) (?P<time>{NUMBER}) ms$")
_RATE = late(rf"^tps = (?P<rate>{NUMBER}) \((?P<how>including|excluding|without)\b[^)]{{0,60}}\)$")
# Of an interval of -P; where no transaction ended in it, its latency is none.
_PROGRESS = late(
    rf"^progress: (?P<end>{NUMBER}) s, (?P<rate>{NUMBER}) tps, lat (?P<time>{NUMBER}|-?nan|NaN) ms "
    rf"stddev (?P<deviation>{NUMBER}|-?nan|NaN)(?:, (?P<failed>\d{{1,12}}) failed\b)?"
)
PROGRESS_RATE, PROGRESS_TIME = "rate of an interval", "latency of an interval"
RATE_WITH = f"{RATE} with connecting"
_STATISTICS = {"average": "mean", "stddev": "stddev"}
_CONNECTING = late(rf"^initial connection time = (?P<time>{NUMBER}) ms$")
_EACH = late(r"^number of transactions per client: (?P<count>\d{1,12})$")
# What -r prints of each statement.
_STATEMENT = late(rf"^(?P<time>{NUMBER})\s+(?:(?P<failed>\d{{1,12}})\s+)?(?P<sql>\S.{{0,300}})$")
_LONGEST_STATEMENT = 40  # characters that are shown


@dataclass
class _Run(Run):
    """One start."""

    of_statements: bool = False
    intervals: int = 0

    def finish(self) -> bool:
        """Whether it has its rate, or that of an interval."""
        return any(own.name in (RATE, RATE_WITH, PROGRESS_RATE) for own in self.results)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, TOOL)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TYPE.match(text):
        run = reading.begin(facts=_asked(commands, reading))
        run.facts["test"] = found["type"].strip("<>")
    elif found := _SETTING.match(text):
        run.line = run.line or reading.line.number
        run.facts[_FACTS[found["what"]]] = int(found["count"])
    elif text.startswith("progress: ") and (found := _PROGRESS.match(text)):
        own: dict[str, Any] = {"end_s": float(found["end"]), "interval": run.intervals}
        run.intervals += 1
        reading.add(PROGRESS_RATE, found["rate"], "transactions/s", "interval", own)
        if float(found["rate"]):
            reading.add(PROGRESS_TIME, found["time"], "ms", "interval", own)
            reading.add(PROGRESS_TIME, found["deviation"], "ms", "stddev", own)
        if found["failed"] and int(found["failed"]):
            reading.add("errors", float(found["failed"]), "errors", "interval", own)
    elif found := _DURATION.match(text):
        run.facts["elapsed_s"] = float(found["time"])
    elif found := _DONE.match(text):
        reading.add(COUNT, float(found["count"]), "transactions", "total")
    elif found := _FAILED.match(text):
        add_failed(reading, float(found["count"]), "failed", "transactions")
    elif found := _LATENCY.match(text):
        reading.add(TIME, found["time"], "ms", _STATISTICS[found["what"]])
    elif found := _RATE.match(text):
        is_with = found["how"] == "including"
        name = RATE_WITH if is_with else RATE
        reading.add(name, found["rate"], "transactions/s", "mean")
    elif found := _CONNECTING.match(text):
        reading.show("time to connect all", found["time"], "ms")
    elif found := _EACH.match(text):
        reading.show("transactions of each client", float(found["count"]), "transactions")
    elif text.startswith(("statement latencies in", "- statement latencies in")):
        run.of_statements = True
    elif run.of_statements and (found := _STATEMENT.match(text)):
        of = {"label": found["sql"][:_LONGEST_STATEMENT].rstrip()}
        reading.show("time of a statement", found["time"], "ms", of=of)


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    facts = known(served_at=option(command, "-h", "--host"))
    if pace := option(command, "-R", "--rate"):
        facts["is_paced"] = True
        if asked := whole(pace):
            facts |= {"asked_per_s": asked, "asked_in_line": command.number}
    if "-C" in command.words or "--connect" in command.words:
        facts["connects_each_time"] = True
    return facts

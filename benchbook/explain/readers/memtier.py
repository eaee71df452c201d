"""memtier_benchmark: its table of all operations, threads and connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import RATE, TIME, commands_of, known, whole

TOOL = "memtier"
_PROGRAM = "memtier_benchmark"
_COUNT = late(
    r"^(?P<count>\d{1,9})\s+(?P<what>Threads|Connections per thread|Requests per \w+|Seconds)$"
)
_HEADS = late(r"(?:Avg\. |p\d[\d.]* )?Latency|[A-Z][a-zA-Z]*/sec")
_ROW = late(
    r"^(?P<what>Sets|Gets|Waits|Totals)\s+(?P<cells>(?:---|\d[\d.]*|-?nan|inf)(?:\s+\S+)+)$"
)
_FACTS = {"Threads": "threads", "Connections per thread": "connections_per_thread"}
_UNITS = {"Ops/sec": "operations/s", "KB/sec": "KiB/s"}


@dataclass
class _Run(Run):
    """One start."""

    heads: list[str] = field(default_factory=list)

    def finish(self) -> bool:
        """Count its connections."""
        each, threads = (self.facts.get(name) for name in ("connections_per_thread", "threads"))
        if each and threads:
            self.facts["concurrency"] = each * threads
        self.facts.pop("connections_per_thread", None)
        return bool(self.results)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, _PROGRAM)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _COUNT.match(text):
        if run.results:
            run = reading.begin(facts=_asked(commands, reading))
        elif not run.facts:
            run.facts |= _asked(commands, reading)
        run.line = run.line or reading.line.number
        if name := _FACTS.get(found["what"]):
            run.facts[name] = int(found["count"])
        elif found["what"].startswith("Requests"):
            run.facts["requests_of_each"] = int(found["count"])
    elif text.startswith("Type ") and "Ops/sec" in text:
        if run.results:
            run = reading.begin(facts=_asked(commands, reading))
        elif not run.facts:
            run.facts |= _asked(commands, reading)
        run.heads = _HEADS.findall(text)
    elif run.heads and (found := _ROW.match(text)):
        _row(reading, found["what"], found["cells"].split())


def _row(reading: Reading[_Run], what: str, cells: list[str]) -> None:
    """The figures of all operations, or of one kind where there were any."""
    if len(cells) != len(reading.run.heads):
        return
    own = dict(zip(reading.run.heads, cells, strict=True))
    is_all = what == "Totals"
    prefix = "" if is_all else f"{what[:-1].lower()} "
    if not is_all and set(cells) <= {"---", "0.00", "0.00000"}:
        # That there were none is what some look for; nobody asks for waits.
        if what != "Waits":
            reading.show(f"{prefix}rate", own.get("Ops/sec"), "operations/s")
        return
    for head, cell in own.items():
        if head == "Ops/sec":
            reading.add(f"{prefix}{RATE}", cell, "operations/s", "mean")
        elif head.endswith("Latency") and cell != "---":
            share = head.removesuffix("Latency").strip()
            mean = "mean" if share in ("", "Avg.") else "median" if share == "p50" else share
            reading.add(f"{prefix}{TIME}", cell, "ms", mean)
        elif head == "KB/sec" and is_all:
            reading.add("throughput", cell, "KiB/s", "mean")
        elif head == "KB/sec":
            reading.show(f"{prefix}throughput", cell, "KiB/s")
        elif head.endswith("/sec") and cell != "---" and (is_all or reading.number(cell)):
            name = head.removesuffix("/sec").lower()
            reading.show(f"{prefix}{name}", cell, "operations/s")


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    batch = whole(option(command, "--pipeline"))
    facts = known(
        served_at=option(command, "-s", "--server", "-h", "--host") or "localhost",
        pipelined=batch if batch and batch > 1 else None,
        connections_per_thread=whole(option(command, "-c", "--clients")),
        threads=whole(option(command, "-t", "--threads")),
    )
    if option(command, "--rate-limiting", "--rate-limit"):
        facts["is_paced"] = True
    return facts

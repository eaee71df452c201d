"""dnsperf, resperf and queryperf: queries of names, how many had an answer, and how soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

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
    commands_of,
    known,
    whole,
)

TOOL = "dnsperf"
_PROGRAMS = ("dnsperf", "resperf", "queryperf", "queryperf-linux_amd64")
_COUNT = late(r"^Queries (?P<what>sent|completed|lost|interrupted):\s+(?P<count>\d{1,15})\b")
_CODES = late(r"\b(?P<code>SERVFAIL|REFUSED|FORMERR|NOTIMP)\s+(?P<count>\d{1,15}) \(")
_TOOK = late(rf"^(?:Run time \(s\)|Ran for):\s+(?P<time>{NUMBER})(?: seconds)?$")
_RATE = late(rf"^Queries per second:\s+(?P<rate>{NUMBER})(?: qps)?$")
_LATENCY = late(
    rf"^Average Latency \(s\):\s+(?P<mean>{NUMBER})(?: \(min (?P<min>{NUMBER}), "
    rf"max (?P<max>{NUMBER})\))?$"
)
_DEVIATION = late(rf"^Latency StdDev \(s\):\s+(?P<stddev>{NUMBER})$")
_TRIP = late(rf"^RTT (?P<what>max|min|average|std deviation):\s+(?P<time>{NUMBER}) sec$")
_ASKED = late(r"^\[Status\] Command line: (?P<words>\S.*)$")
_STATISTICS = {"max": "max", "min": "min", "average": "mean", "std deviation": "stddev"}
_USUAL_WINDOW = 100  # queries under way at most, where nothing else is asked for


@dataclass
class _Run(Run):
    """One start."""

    asked: tuple[str, ...] = ()

    def finish(self) -> bool:
        """Whether it has a rate."""
        return any(own.name == RATE for own in self.results)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, *_PROGRAMS)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _ASKED.match(text):
        run = reading.begin(asked=tuple(found["words"].split()))
    elif found := _COUNT.match(text):
        _counted(commands, reading, found["what"], float(found["count"]))
    elif text.startswith("Response codes:"):
        refused = sum(int(code["count"]) for code in _CODES.finditer(text))
        if refused:
            reading.add(FAILED, float(refused), "requests", "", {"failure": "status"})
    elif found := _TOOK.match(text):
        run.facts["elapsed_s"] = float(found["time"])
    elif found := _RATE.match(text):
        reading.add(RATE, found["rate"], "queries/s", "mean")
    elif found := _LATENCY.match(text):
        for statistic in ("mean", "min", "max"):
            reading.add(TIME, found[statistic], "s", statistic)
    elif found := _DEVIATION.match(text):
        reading.add(TIME, found["stddev"], "s", "stddev")
    elif found := _TRIP.match(text):
        reading.add(TIME, found["time"], "s", _STATISTICS[found["what"]])


def _counted(commands: Sequence[Command], reading: Reading[_Run], what: str, count: float) -> None:
    run = reading.run
    if what == "sent":
        run = reading.begin(asked=run.asked) if run.results else run
        run.line = run.line or reading.line.number
        run.facts |= _facts(run.asked, last_above(commands, reading.line.number))
        reading.add("queries sent", count, "queries", "total")
    elif what == "completed":
        reading.add(COUNT, count, "queries", "total")
    elif what == "lost" and count:
        reading.add("queries lost", count, "queries", "total")


def _facts(asked: tuple[str, ...], above: Command | None) -> dict[str, object]:
    """How many queries were under way at a time, and whether a rate was asked for."""
    command = Command(0, asked) if asked else above
    if command is None:
        return {}
    program = command.words[0].rpartition("/")[2]
    window = whole(option(command, "-q"))
    if window is None and program == "dnsperf":
        window = _USUAL_WINDOW
    facts = known(concurrency=window, served_at=option(command, "-s"))
    if option(command, "-Q") or program == "resperf":
        facts.pop("concurrency", None)  # so many are under way only where nothing else holds it
        facts["is_paced"] = True
    if "tcp" in (option(command, "-m"), option(command, "-M")):
        facts["protocol"] = "tcp"
    return facts

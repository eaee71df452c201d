"""hey (boom), oha and ghz: a summary of a load, percentiles, answers by status."""

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
    FAILED,
    NUMBER,
    RATE,
    TIME,
    commands_of,
    host_of,
    known,
    unit_of,
    whole,
)

TOOL = "hey"
_PROGRAMS = ("hey", "oha", "boom", "ghz")
_UNIT = r"(?:secs?|ms|us|µs)"
_ROW = late(rf"^(?P<what>Total|Slowest|Fastest|Average):\s+(?P<time>{NUMBER}) ?(?P<unit>{_UNIT})$")
_RATE = late(rf"^Requests/sec:\s+(?P<rate>{NUMBER})$")
_SUCCESS = late(rf"^Success rate:\s+(?P<share>{NUMBER})(?P<percent>%?)$")
_SHARE = late(rf"^(?P<share>\d{{1,2}}(?:\.\d{{1,2}})?)%+ in (?P<time>{NUMBER}) ?(?P<unit>{_UNIT})$")
_STATUS = late(r"^\[(?P<status>\d{3}|[A-Z][A-Za-z]{1,30})\]\s+(?P<count>\d{1,12}) responses$")
_COUNT = late(r"^Count:\s+(?P<count>\d{1,12})$")
_ERROR = late(r"^\[(?P<count>\d{1,12})\]\s+\S.*$")
_BIN = late(rf"^(?P<edge>{NUMBER}) \[(?P<count>\d{{1,12}})\]\s*\|")
_SIZE = late(r"^(?P<what>Total data|Size/request):\s+(?P<size>\d{1,18}) bytes$")
# How its parts were, each as the mean, the fastest and the slowest.
_PART = late(
    rf"^(?P<what>DNS\+dialup|DNS-lookup|req write|resp wait|resp read):\s+(?P<mean>{NUMBER}) "
    rf"(?P<unit>{_UNIT}), (?P<min>{NUMBER}) {_UNIT}, (?P<max>{NUMBER}) {_UNIT}$"
)
_STATISTICS = {"Slowest": "max", "Fastest": "min", "Average": "mean"}


@dataclass
class _Run(Run):
    """One start."""

    answered: int = 0
    of_errors: bool = False

    def finish(self) -> bool:
        """Whether it has more than a rate, which other tools print as well."""
        return any(result.name == TIME for result in self.results)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    return LineReader(TOOL, _Run, partial(_line, commands_of(log, *_PROGRAMS)))(log)


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.strip("` ") == "Summary:":
        reading.begin(facts=_asked(commands, reading))
    elif found := _ROW.match(text):
        if found["what"] == "Total":
            if "elapsed_s" in run.facts:  # a part of an earlier one was left above
                run = reading.begin(facts=_asked(commands, reading))
            scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit_of(found["unit"])]
            run.facts["elapsed_s"] = float(found["time"]) * scale
        else:
            statistic = _STATISTICS[found["what"]]
            reading.add(TIME, found["time"], unit_of(found["unit"]), statistic)
    elif found := _COUNT.match(text):
        run.facts["printed_by"] = "ghz"
        run.facts["failed_are_counted"] = True
        reading.add(COUNT, float(found["count"]), "requests", "total")
    elif run.results and (found := _RATE.match(text)):
        reading.add(RATE, found["rate"], "requests/s", "mean")
    elif found := _SUCCESS.match(text):
        run.facts["printed_by"] = "oha"
        share = float(found["share"]) * (1 if found["percent"] else 100)
        reading.add("success rate", share, "%")
    elif run.results and (found := _SHARE.match(text)):
        share = float(found["share"])
        if share and float(found["time"]):  # of few requests it prints zeros
            statistic = "median" if share == 50 else f"p{share:g}"
            reading.add(TIME, found["time"], unit_of(found["unit"]), statistic)
    elif run.results and "least_bin_s" not in run.facts and (found := _BIN.match(text)):
        if int(found["count"]):
            run.facts |= {"least_bin_s": float(found["edge"]), "bins_line": reading.line.number}
    elif found := _SIZE.match(text):
        name = "received" if found["what"] == "Total data" else "received for a request"
        reading.show(name, float(found["size"]), "B")
    elif run.results and (found := _PART.match(text)):
        for statistic in ("mean", "min", "max"):
            reading.show(found["what"], found[statistic], unit_of(found["unit"]), statistic)
    elif text.startswith("Error distribution"):
        run.of_errors = True
    elif found := _STATUS.match(text):
        of: dict[str, Any] = {"status": found["status"]}
        reading.add("responses", float(found["count"]), "responses", "", of)
        if not found["status"].startswith(("2", "OK")):
            reading.add(FAILED, float(found["count"]), "requests", "", {"failure": "status"})
    elif run.of_errors and (found := _ERROR.match(text)):
        reading.add(FAILED, float(found["count"]), "requests", "", {"failure": "failed"})


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    """What the command above asked for."""
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    address = next((word for word in reversed(command.words) if "://" in word), "")
    connections, count = (whole(option(command, name)) for name in ("-c", "-n"))
    if command.words[0].rpartition("/")[2] == "hey":  # what it takes where nothing is asked for
        connections = connections or (None if option(command, "-c") else 50)
    facts = known(concurrency=connections, requests_asked=count, served_at=host_of(address))
    if option(command, "-q"):
        facts["is_paced"] = True
    if option(command, "-z"):
        facts.pop("requests_asked", None)
    return facts
